/** What a wrapped server offers: tools, prompts and templates as accepted, resources as they are now. */

import { type DescriptionPin, pinOf, type ServerPins } from '../../../agents/mcp/pins.ts'
import { scanText } from '../../../scan/injection/injection.ts'
import { isRecord } from '../../../system/json.ts'
import { ERROR, type Json, RpcError } from '../../../system/json-rpc.ts'
import { lineDiff } from '../../terminal/line-diff.ts'
import { visibleLines } from '../../terminal/terminal.ts'
import type { Elicit } from '../rounds.ts'
import { type Names, outerUri } from './namespace.ts'
import { ALONE, type WrappedServer } from './wrapped-server.ts'

/** One offer. */
export interface Offer {
  readonly definition: Json
  readonly pin: DescriptionPin
}

export interface CatalogParts {
  readonly server: WrappedServer
  readonly pins: Pick<ServerPins, 'known' | 'accept'>
  /** Accept everything on first use, whatever was pinned. */
  readonly accept: boolean
  /** Whether a text contains a value that the server was given. */
  readonly leaks: (text: string) => boolean
  readonly ask: (message: string, elicit: Elicit, signal: AbortSignal) => Promise<boolean>
  readonly warn: (text: string) => void
  /** The time limit of a list, instead of the default. */
  readonly listMs?: number
}

interface Kind {
  readonly one: string
  readonly method: string
  readonly field: string
  readonly capability: string
  /** The field that names an offer. */
  readonly key: 'name' | 'uriTemplate' | 'uri'
  readonly valid: RegExp
  /** The prefix in the file of pins; no tool's name can contain it. */
  readonly prefix: string
}

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/
const ADDRESS = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s\p{C}]{0,2000}$/u

const kind = (one: string, method: string, field: string, key: Kind['key'], prefix: string): Kind => ({
  ...{ one, method: `${method}/list`, field, capability: method.split('/')[0]!, key, prefix },
  valid: key === 'name' ? NAME : ADDRESS,
})

const KINDS = {
  tools: kind('tool', 'tools', 'tools', 'name', ''),
  prompts: kind('prompt', 'prompts', 'prompts', 'name', 'prompt:'),
  templates: kind('resource template', 'resources/templates', 'resourceTemplates', 'uriTemplate', 'template:'),
  resources: kind('resource', 'resources', 'resources', 'uri', 'resource:'),
}

export type Pinned = 'tools' | 'prompts' | 'templates'

/** Marks a kind as checked in the pins: later offers are new. */
const SEEN: Readonly<Record<Pinned, string>> = { tools: '@tools', prompts: '@prompts', templates: '@templates' }
/** The server's own name in the pins. */
const SERVER = '@server'
const MAX_OFFERS = 1000
const MAX_PAGES = 20
/** The lists of other servers wait for it. */
const LIST_MS = 20_000
/** The maximum length of a definition, because all are stored in one file. */
const MAX_DEFINITION = 64 * 1024
const MAX_LIST = 4 * 1024 * 1024

export class ServerCatalog {
  readonly #parts: CatalogParts
  readonly #answered = new Set<string>()
  readonly #warned = new Set<string>()
  readonly #accepting: Set<Pinned | typeof SERVER>

  constructor(parts: CatalogParts) {
    this.#parts = parts
    this.#accepting = new Set(parts.accept ? ['tools', 'prompts', 'templates', SERVER] : [])
  }

  /** The offers unchanged since they were accepted; on first contact, all without injections. */
  async accepted(kind: Pinned, elicit: Elicit | null, signal: AbortSignal): Promise<readonly Offer[]> {
    const { key, prefix } = KINDS[kind]
    const offers = await this.#offers(KINDS[kind], elicit, signal)
    const known = this.#parts.pins.known() ?? {}
    if (this.#accepting.has(kind) || !isSeen(kind, known)) {
      const first = offers.filter((offer) => this.#accepting.has(kind) || !this.#steers(KINDS[kind], offer))
      // Accept only once: a later change in the session is a change.
      this.#accepting.delete(kind)
      const pins = first.map(({ definition, pin }) => [`${prefix}${String(definition[key])}`, pin] as const)
      this.#parts.pins.accept({ [SEEN[kind]]: { hash: '', text: '' }, ...Object.fromEntries(pins) })
      return first
    }
    const accepted: Offer[] = []
    for (const offer of offers) {
      const name = `${prefix}${String(offer.definition[key])}`
      const before = Object.hasOwn(known, name) ? known[name]! : null
      if (
        before?.hash === offer.pin.hash ||
        (await this.#acceptChange(name, before, offer.pin, this.#said(KINDS[kind], before, offer), elicit, signal))
      )
        accepted.push(offer)
    }
    return accepted
  }

  /** Resources change with their data, so they are not pinned; those with injections are left out. */
  async resources(signal: AbortSignal): Promise<readonly Offer[]> {
    return (await this.#offers(KINDS.resources, null, signal)).filter((offer) => !this.#steers(KINDS.resources, offer))
  }

  async #offers(kind: Kind, elicit: Elicit | null, signal: AbortSignal): Promise<readonly Offer[]> {
    const { server } = this.#parts
    await server.ready()
    if (!server.has(kind.capability) || !(await this.#isAcceptedServer(elicit, signal))) return []
    const slow = AbortSignal.timeout(this.#parts.listMs ?? LIST_MS)
    const found = new Map<string, Offer>()
    let size = 0
    let cursor: unknown
    for (let page = 0; page < MAX_PAGES && found.size < MAX_OFFERS; page++) {
      const given = await this.#page(kind, cursor, signal, slow)
      const list = given[kind.field]
      if (!Array.isArray(list))
        throw new RpcError(ERROR.internal, `the list of ${kind.field} of ${server.label} is not a list`)
      for (const item of list.slice(0, MAX_OFFERS)) {
        const name = isRecord(item) ? item[kind.key] : undefined
        // Of two names that a client may confuse, the first wins.
        if (typeof name !== 'string' || !kind.valid.test(name) || isTaken(found, name, kind)) continue
        const definition = plain(item)
        const pin = pinOf(definition)
        size += pin.text.length
        if (pin.text.length > MAX_DEFINITION || size > MAX_LIST) continue
        if (!this.#parts.leaks(pin.text)) found.set(name, { definition, pin })
        else
          this.#warnOnce(
            pin.hash,
            `A ${kind.one} of the MCP server “${server.label}” contains a key that the server was given. It is withheld.`,
          )
      }
      cursor = given.nextCursor
      if (typeof cursor !== 'string') break
    }
    return [...found.values()].slice(0, MAX_OFFERS)
  }

  async #page(kind: Kind, cursor: unknown, signal: AbortSignal, slow: AbortSignal): Promise<Json> {
    const { server } = this.#parts
    const params = cursor === undefined ? {} : { cursor }
    try {
      return await server.request(kind.method, params, ALONE, AbortSignal.any([signal, slow]))
    } catch (error) {
      if (slow.aborted && !signal.aborted)
        throw new RpcError(ERROR.internal, `${server.label} did not list its ${kind.field} in time: they are left out`)
      // Servers can announce resources and then reject templates.
      if (error instanceof RpcError && error.code === ERROR.method) return { [kind.field]: [] }
      throw error
    }
  }

  /** False while a person has not accepted another name of the server. */
  async #isAcceptedServer(elicit: Elicit | null, signal: AbortSignal): Promise<boolean> {
    const { server, pins } = this.#parts
    const pin = pinOf({ name: server.ownName })
    const before = pins.known()?.[SERVER]
    if (before?.hash === pin.hash) return true
    // Pins of an older Cordon have no name.
    if (before === undefined || this.#accepting.has(SERVER)) {
      this.#accepting.delete(SERVER)
      pins.accept({ [SERVER]: pin })
      return true
    }
    const said = `The MCP server “${server.label}” has another name than when it was accepted: it may be another server.`
    return this.#acceptChange(SERVER, before, pin, said, elicit, signal)
  }

  #steers(kind: Kind, { definition, pin }: Offer): boolean {
    if (!scanText(pin.text).injection) return false
    this.#warnOnce(
      pin.hash,
      `The ${kind.one} “${String(definition[kind.key])}” of the MCP server “${this.#parts.server.label}” describes itself in words that read like instructions to the agent. It is withheld; cordon mcp wrap --accept takes it all the same. ${pin.text}`,
    )
    return true
  }

  #said(kind: Kind, before: DescriptionPin | null, { definition }: Offer): string {
    const what = before ? 'changed its definition' : 'is new'
    return `The ${kind.one} “${String(definition[kind.key])}” of the MCP server “${this.#parts.server.label}” ${what} since it was accepted.`
  }

  async #acceptChange(
    name: string,
    before: DescriptionPin | null,
    pin: DescriptionPin,
    said: string,
    elicit: Elicit | null,
    signal: AbortSignal,
  ): Promise<boolean> {
    // A no stays, however often the server changes the text.
    if (this.#answered.has(name)) return false
    const shown = definitionDiff(before?.text ?? null, pin.text)
    if (elicit) {
      if (await this.#parts.ask(`${said}\n${shown}\nAccept it?`, elicit, signal)) {
        this.#parts.pins.accept({ [name]: pin })
        return true
      }
      this.#answered.add(name)
    }
    this.#warnOnce(pin.hash, `${said} It is withheld; cordon mcp wrap --accept takes the tools as they are. ${shown}`)
    return false
  }

  #warnOnce(hash: string, text: string): void {
    if (this.#warned.has(hash)) return
    this.#warned.add(hash)
    this.#parts.warn(text)
  }
}

/** Clients ignore case in tool names, but not in addresses. Names of Cordon's own tools are taken. */
function isTaken(found: ReadonlyMap<string, Offer>, name: string, { key }: Kind): boolean {
  const folded = (text: string): string => text.toLowerCase().replace(/[.-]/g, '_')
  if (key !== 'name') return found.has(name)
  return /^cordon(?:_|$)/.test(folded(name)) || [...found.keys()].some((one) => folded(one) === folded(name))
}

/** Pins of an older Cordon contain tools without a mark. */
function isSeen(kind: Pinned, known: Readonly<Record<string, DescriptionPin>>): boolean {
  if (Object.hasOwn(known, SEEN[kind])) return true
  return kind === 'tools' && Object.keys(known).some((name) => NAME.test(name))
}

/**
 * Removes fields for hosts: icons are fetched from anywhere, and the gateway does not support `_meta` and `execution`.
 */
function plain({ _meta, icons, execution, ...definition }: Json): Json {
  return definition
}

/** The changed lines of a definition, or all of them. */
export function definitionDiff(before: string | null, now: string): string {
  const lines = (text: string): string[] => JSON.stringify(JSON.parse(text), null, 2).split('\n')
  if (before === null) return lines(now).join('\n')
  return lineDiff(lines(before), lines(now))
    .map(({ sign, text }) => `${sign} ${text}`)
    .join('\n')
}

/** A tool or prompt for the client: under the server's name, marked as a third party's. */
export function shownNamed(definition: Json, label: string, outer: Names['outer']): Json {
  return { ...marked(definition, label), name: outer(label, String(definition.name)) }
}

export function shownResource(definition: Json, label: string): Json {
  return { ...marked(definition, label), uri: outerUri(label, String(definition.uri)) }
}

export function shownTemplate(definition: Json, label: string): Json {
  return { ...marked(definition, label), uriTemplate: outerUri(label, String(definition.uriTemplate)) }
}

function marked(definition: Json, label: string): Json {
  const described = typeof definition.description === 'string' ? definition.description : ''
  return {
    ...(withVisibleText(definition) as Json),
    description: `[from the MCP server “${label}”] ${visibleLines(described)}`,
  }
}

export function withVisibleText(value: unknown): unknown {
  if (typeof value === 'string') return visibleLines(value)
  if (Array.isArray(value)) return value.map(withVisibleText)
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, withVisibleText(field)]))
}
