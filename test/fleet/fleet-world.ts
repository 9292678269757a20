/** A fleet for tests: a team with keys, and machines their own with folders. */

import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Bundle, cosignBundle, signBundle } from '../../src/fleet/bundle.ts'
import type { FleetSettings } from '../../src/fleet/settings.ts'
import { makeSigningKey, type SigningKey } from '../../src/system/keys/signing-key.ts'
import { type Machine, thisMachine } from '../../src/system/machine.ts'

export const FLEET = 'acme'
/** A time at which nothing has expired. */
export const NOW: number = Date.parse('2026-06-01T00:00:00Z')

export interface FleetWorld {
  readonly base: string
  readonly root: string
  readonly machine: Machine
  readonly team: readonly SigningKey[]
  settings(more?: Readonly<Record<string, unknown>>): FleetSettings
  /** Writes `fleet.json` of the machine. */
  join(more?: Readonly<Record<string, unknown>>): void
  close(): void
}

/** A machine whose settings trust two keys of a team, and ask for so many signatures. */
export function openFleetWorld(signers = 1): FleetWorld {
  process.env.CORDON_KEYCHAIN = 'off'
  const base = realpathSync(mkdtempSync(join(tmpdir(), 'cordon-fleet-')))
  const root = join(base, 'project')
  for (const name of ['project', 'home', 'etc', 'config']) mkdirSync(join(base, name), { mode: 0o700 })
  const team = [makeSigningKey().key, makeSigningKey().key]
  const machine: Machine = {
    ...thisMachine(),
    cwd: root,
    home: join(base, 'home'),
    env: { PATH: process.env.PATH },
    configDir: join(base, 'config'),
    stateDir: join(base, 'state'),
    cacheDir: join(base, 'cache'),
    systemDir: join(base, 'etc'),
  }
  return {
    base,
    root,
    machine,
    team,
    settings: (more) => fleetOf(base, { team, signers, ...more }).settings,
    join: (more) => {
      const { text } = fleetOf(base, { team, signers, ...more })
      writeFileSync(join(machine.configDir, 'fleet.json'), text, { mode: 0o600 })
    },
    close: () => rmSync(base, { recursive: true, force: true }),
  }
}

interface Joined {
  readonly team: readonly SigningKey[]
  readonly settings: FleetSettings
  /** The text of `fleet.json`. */
  readonly text: string
}

/** What a machine that joined knows of its fleet. */
export function fleetOf(
  base: string,
  {
    team = [makeSigningKey().key],
    ...more
  }: { readonly team?: readonly SigningKey[] } & Readonly<Record<string, unknown>> = {},
): Joined {
  const object = {
    fleet: FLEET,
    keys: team.map((key) => key.publicKey),
    signers: 1,
    policy: join(base, 'policy.bundle'),
    ...more,
  }
  return {
    team,
    settings: {
      nats: null,
      desk: null,
      records: { otlp: null, headers: {}, nats: false },
      asks: null,
      tls: {},
      ...object,
    },
    text: JSON.stringify({ version: 1, ...object }),
  }
}

/** A bundle, version 1 and harmless unless asked to. */
export function bundle(more: Partial<Bundle> = {}): Bundle {
  return {
    fleet: FLEET,
    version: 1,
    issued: '2026-01-01T00:00:00.000Z',
    expires: null,
    closes: 'nothing',
    layers: [],
    approvers: [],
    rules: [],
    revoked: [],
    ...more,
  }
}

/** A layer for every machine. */
export function layer(manifest: string, groups: readonly string[] = ['*']): Bundle['layers'][number] {
  return { groups, manifest: `schema_version = 1\n${manifest}` }
}

/** The text of a bundle signed by these. */
export function signedBy(content: Bundle, first: SigningKey, ...others: readonly SigningKey[]): string {
  return others.reduce((text, key) => cosignBundle(text, key)!, signBundle(content, first))
}
