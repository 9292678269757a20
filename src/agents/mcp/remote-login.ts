/** A person's login at a remote MCP server: OAuth by the MCP specification, with tokens only in the key store. */

import { createHash, randomBytes } from 'node:crypto'
import { join } from 'node:path'
import type { OAuthClientProvider } from '@modelcontextprotocol/sdk/client/auth.js'
import type {
  OAuthClientInformationMixed,
  OAuthClientMetadata,
  OAuthTokens,
} from '@modelcontextprotocol/sdk/shared/auth.js'
import { Fault } from '../../system/fault.ts'
import { isRecord } from '../../system/json.ts'
import { openKeyStore } from '../../system/keys/keychain.ts'
import { openOwnDirectory } from '../../system/state.ts'
import { MIN_SECRET } from './servers.ts'

interface Login {
  readonly client?: OAuthClientInformationMixed
  readonly tokens?: OAuthTokens
}

/** Where the authorization server's answer arrives during a login. */
export interface Redirect {
  readonly url: string
  readonly open: (address: URL) => void
}

/** The login at one server, stored by its exact URL, so that no other server gets its tokens. */
export class RemoteLogin implements OAuthClientProvider {
  readonly #name: string
  readonly #stateDir: string
  readonly #key: string
  readonly #redirect: Redirect | null
  readonly #state = randomBytes(24).toString('base64url')
  readonly #given = new Set<string>()
  #verifier: string | null = null

  /** Without a redirect nobody can log in: what needs a login fails with the remedy. */
  constructor(stateDir: string, name: string, url: string, redirect: Redirect | null = null) {
    this.#name = name
    this.#stateDir = stateDir
    this.#key = `mcp-${createHash('sha256').update(new URL(url).href).digest('hex').slice(0, 40)}`
    this.#redirect = redirect
  }

  get redirectUrl(): string {
    return this.#redirect?.url ?? 'http://127.0.0.1/callback'
  }

  get clientMetadata(): OAuthClientMetadata {
    return {
      client_name: 'Cordon',
      redirect_uris: [this.redirectUrl],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: 'none',
    }
  }

  state(): string {
    return this.#state
  }

  clientInformation(): OAuthClientInformationMixed | undefined {
    const { client } = this.#read()
    if (this.#redirect === null && client === undefined) throw loginNeeded(this.#name)
    // A new login uses a new port, which the earlier client did not register.
    return this.#redirect === null || this.#verifier !== null ? client : undefined
  }

  saveClientInformation(client: OAuthClientInformationMixed): void {
    this.#write({ client })
  }

  tokens(): OAuthTokens | undefined {
    const { tokens } = this.#read()
    if (tokens !== undefined) this.#keep(tokens)
    return tokens
  }

  /** Tokens that the server was given: its results must not show them to the agent. */
  get given(): readonly string[] {
    return [...this.#given]
  }

  saveTokens(tokens: OAuthTokens): void {
    this.#keep(tokens)
    this.#write({ ...this.#read(), tokens })
  }

  redirectToAuthorization(address: URL): void {
    if (this.#redirect === null) throw loginNeeded(this.#name)
    this.#redirect.open(address)
  }

  saveCodeVerifier(verifier: string): void {
    this.#verifier = verifier
  }

  codeVerifier(): string {
    if (this.#verifier === null) throw loginNeeded(this.#name)
    return this.#verifier
  }

  invalidateCredentials(scope: 'all' | 'client' | 'tokens' | 'verifier' | 'discovery'): void {
    if (scope === 'verifier') this.#verifier = null
    else if (scope === 'tokens') this.#write({ ...this.#read(), tokens: undefined })
    else if (scope !== 'discovery') this.forget()
  }

  get isLoggedIn(): boolean {
    return this.#read().tokens !== undefined
  }

  forget(): boolean {
    const known = this.#store().read(this.#key) !== null
    this.#store().delete(this.#key)
    return known
  }

  #keep({ access_token, refresh_token, id_token }: OAuthTokens): void {
    for (const token of [access_token, refresh_token, id_token])
      if (token !== undefined && token.length >= MIN_SECRET) this.#given.add(token)
  }

  #store() {
    openOwnDirectory(join(this.#stateDir, 'keys'), this.#stateDir)
    return openKeyStore(this.#stateDir)
  }

  #read(): Login {
    const stored = this.#store().read(this.#key)
    if (stored === null) return {}
    try {
      const value: unknown = JSON.parse(stored.value)
      return isRecord(value) ? (value as Login) : {}
    } catch {
      return {}
    }
  }

  #write(login: { readonly client?: unknown; readonly tokens?: unknown }): void {
    this.#store().write(this.#key, JSON.stringify(login))
  }
}

function loginNeeded(name: string): Fault {
  return new Fault('login-needed', 'it wants a login', {
    remedy: `Run this yourself in a terminal: cordon mcp login ${name}`,
  })
}
