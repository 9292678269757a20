/** The team's side of a fleet: its settings and keys, the machines it enrolled, and the tokens of its NATS servers. */

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { type Bundle, claimedBundle } from '../fleet/bundle.ts'
import { fleetDirectory } from '../fleet/bundle-store.ts'
import {
  type Certificate,
  codeProof,
  type Enrolment,
  type Invite,
  machineKey,
  makeInvite,
  type Role,
  signEnrolment,
  takeInvite,
  writeCertificate,
} from '../fleet/identity.ts'
import { inboxOf, natsName, natsToken, permissionsOf } from '../fleet/nats/subjects.ts'
import { FLEET_FILE, type FleetSettings, parseFleetSettings } from '../fleet/settings.ts'
import { userSigningKey } from '../manifest/sign/sign.ts'
import { Fault } from '../system/fault.ts'
import { openKeyStore } from '../system/keys/keychain.ts'
import {
  keyId,
  makeSigningKey,
  type PublicKey,
  parsePublicKey,
  parseSigningKey,
  type SigningKey,
} from '../system/keys/signing-key.ts'
import { withLock } from '../system/lock.ts'
import type { Machine } from '../system/machine.ts'
import { openOwnDirectory, readOwnFile, readOwnJson, writeOwnFile, writeOwnJson } from '../system/state.ts'

/** A machine of the fleet as the team knows it. */
type Member = Omit<Enrolment, 'nats'>

interface TeamFile {
  readonly version: 1
  readonly members: readonly Member[]
  readonly revoked: readonly { readonly key: PublicKey; readonly time: number }[]
}

export interface Team {
  readonly settings: FleetSettings
  /** The settings as the machines get them. */
  readonly settingsText: string
  readonly directory: string
  members(): readonly Member[]
  revoked(): readonly PublicKey[]
  invite(what: Pick<Invite, 'role' | 'groups' | 'expires'>): string
  /** Enrols the process that proves to have a code; null for a wrong, used or old one. */
  enrol(request: JoinRequest, now: number): JoinAnswer | null
  /** Takes a key back: for the next policy, and for the NATS servers. */
  revoke(key: PublicKey, now: number): void
  /** What goes into the configuration of every NATS server of this fleet; `directory`: where a server keeps tokens. */
  natsConfiguration(now: number, directory: string): string
  /** The fleet's current account, and a login for servers. */
  natsAccount(now: number): { readonly account: string; readonly login: string }
  readonly key: SigningKey
  /** Keeps a published bundle, and takes its keys over into the settings for new machines. */
  archive(text: string): void
  /** The newest published bundle. */
  newest(): string | null
  /** The newest whole policy below a version, or that very version. */
  archived(version: number, exactly: boolean): Bundle | null
}

export interface JoinRequest {
  readonly id: string
  readonly key: PublicKey
  readonly name: string
  readonly proof: string
}

export interface JoinAnswer {
  /** The settings and the certificate as one text, so that one proof covers both. */
  readonly text: string
  readonly proof: string
}

/** The text with which a machine proves that it has the code. */
export function joinText({ key, name }: Pick<JoinRequest, 'key' | 'name'>): string {
  return JSON.stringify([key, name])
}

function teamDirectory(machine: Machine): string {
  return openOwnDirectory(join(openOwnDirectory(machine.stateDir), 'fleet-team'))
}

/** Founds a fleet: its settings are kept here, and this machine is its first admin. */
export function foundFleet(machine: Machine, settings: Record<string, unknown>, now: number): Team {
  const directory = teamDirectory(machine)
  const path = join(directory, FLEET_FILE)
  if (readOwnFile(path) !== null) throw new Fault('exists', `${path} exists: this user already runs a fleet`)
  const { key } = userSigningKey({ stateDir: machine.stateDir, keys: openKeyStore(machine.stateDir) })
  const keys = [...new Set([key.publicKey, ...((settings.keys as PublicKey[] | undefined) ?? [])])]
  const whole = { version: 1, ...settings, keys }
  parseFleetSettings(JSON.stringify(whole), path)
  writeOwnJson(path, whole)
  const team = openTeam(machine)
  const own = machineKey(openKeyStore(machine.stateDir)).key.publicKey
  joinFleet(machine, team.settingsText, enrolled(team, teamKeys(machine), own, 'admin', 'admin', [], now))
  return team
}

/** Puts settings and certificate where this machine reads them. */
export function joinFleet(machine: Machine, settingsText: string, certificate: Certificate): void {
  const directory = openOwnDirectory(machine.configDir)
  writeCertificate(fleetDirectory(machine.stateDir), certificate)
  writeOwnJson(join(directory, FLEET_FILE), JSON.parse(settingsText))
}

/** The published bundles of some versions, the newest first. */
function published(directory: string, wanted: (version: number) => boolean): readonly string[] {
  const folder = openOwnDirectory(join(directory, 'published'))
  const versions = readdirSync(folder).map((name) => Number.parseInt(name, 10))
  return versions
    .filter(wanted)
    .toSorted((a, b) => b - a)
    .map((version) => new TextDecoder().decode(readOwnFile(join(folder, `${version}.bundle`)) ?? undefined))
}

/** Whether this user runs a fleet. */
export function runsFleet({ stateDir }: Machine): boolean {
  return existsSync(join(stateDir, 'fleet-team', FLEET_FILE))
}

/** Opens the fleet that this user runs. */
export function openTeam(machine: Machine): Team {
  const directory = teamDirectory(machine)
  const path = join(directory, FLEET_FILE)
  const bytes = readOwnFile(path)
  if (bytes === null)
    throw new Fault('no-fleet', 'this user runs no fleet', { remedy: 'cordon fleet init NAME creates one.' })
  const settingsText = new TextDecoder().decode(bytes)
  const settings = parseFleetSettings(settingsText, path)
  const { key } = userSigningKey({ stateDir: machine.stateDir, keys: openKeyStore(machine.stateDir) })
  const file = join(directory, 'team.json')
  const read = (): TeamFile => readOwnJson(file, isTeamFile) ?? { version: 1, members: [], revoked: [] }
  const change = (how: (team: TeamFile) => TeamFile): void =>
    withLock(join(directory, 'team.lock'), () => writeOwnJson(file, how(read())))
  const team: Team = {
    settings,
    settingsText,
    directory,
    key,
    members: () => read().members,
    revoked: () => read().revoked.map((one) => one.key),
    invite: (what) => makeInvite(directory, what).code,
    enrol(request, now) {
      const known = parsePublicKey(request.key)
      if (known === null || typeof request.name !== 'string' || !/^[\w .-]{1,64}$/.test(request.name)) return null
      if (read().revoked.some((one) => one.key === known)) return null
      const text = joinText({ key: known, name: request.name })
      const invite = takeInvite(directory, request.id, request.proof, text, now)
      if (invite === null) return null
      const { role, groups, secret } = invite
      const certificate = enrolled(team, teamKeys(machine), known, request.name, role, groups, now)
      const { nats: _, ...member } = JSON.parse(certificate.payload) as Enrolment
      change((before) => ({
        ...before,
        members: [...before.members.filter((one) => one.machine !== known), member],
      }))
      const answer = JSON.stringify({ settings: settingsText, certificate })
      return { text: answer, proof: codeProof(secret, 'joined', answer) }
    },
    revoke(gone, now) {
      change((before) => ({
        ...before,
        members: before.members.filter((one) => one.machine !== gone),
        revoked: [...before.revoked.filter((one) => one.key !== gone), { key: gone, time: Math.ceil(now / 1000) }],
      }))
    },
    archive(text) {
      const bundle = claimedBundle(text)
      if (bundle === null) return
      writeOwnFile(join(openOwnDirectory(join(directory, 'published')), `${bundle.version}.bundle`), text)
      const { keys, signers } = bundle
      if (keys !== undefined) writeOwnJson(path, { ...JSON.parse(settingsText), keys, signers })
    },
    newest: () => published(directory, () => true)[0] ?? null,
    archived(version, exactly) {
      const texts = published(directory, (one) => (exactly ? one === version : one < version))
      const bundles = texts.map(claimedBundle)
      // A stage of a roll-out is half of one policy and half of another.
      return bundles.find((one) => one !== null && (one.rollout?.stage ?? 1) === (one.rollout?.stages ?? 1)) ?? null
    },
    natsConfiguration: (now, folder) =>
      natsConfiguration(settings.fleet, teamKeys(machine), read().revoked, now, folder),
    natsAccount: (now) => {
      const keys = teamKeys(machine)
      const own = machineKey(openKeyStore(machine.stateDir)).key.publicKey
      const login = natsToken({
        name: `cordon ${settings.fleet} admin`,
        subject: { role: 'user', key: own },
        issuer: { role: 'account', key: keys('system') },
        nats: { pub: { allow: ['$SYS.REQ.CLAIMS.UPDATE'] }, sub: { allow: [`${inboxOf(own)}.>`] }, ...UNLIMITED },
        issued: Math.floor(now / 1000),
      })
      return { account: accountToken(settings.fleet, keys, read().revoked, now), login }
    },
  }
  return team
}

/** The keys of the fleet's own NATS account, created on first use. */
function teamKeys(machine: Machine): (name: 'operator' | 'account' | 'system') => SigningKey {
  const store = openKeyStore(openOwnDirectory(machine.stateDir))
  return (name) => {
    const stored = store.read(`fleet-nats-${name}`)
    const known = stored && parseSigningKey(stored.value)
    if (known) return known
    const created = makeSigningKey()
    store.write(`fleet-nats-${name}`, created.secret)
    return created.key
  }
}

type TeamKeys = ReturnType<typeof teamKeys>

function enrolled(
  team: Pick<Team, 'settings' | 'key'>,
  keys: TeamKeys,
  machine: PublicKey,
  name: string,
  role: Role,
  groups: readonly string[],
  now: number,
): Certificate {
  const { fleet, nats } = team.settings
  const token = (): string =>
    natsToken({
      name: `${name} ${keyId(machine)}`,
      subject: { role: 'user', key: machine },
      issuer: { role: 'account', key: keys('account') },
      nats: { ...permissionsOf(fleet, machine, role), ...UNLIMITED },
      issued: Math.floor(now / 1000),
    })
  return signEnrolment(
    { fleet, machine, name, role, groups, issued: new Date(now).toISOString(), nats: nats === null ? null : token() },
    team.key,
  )
}

const UNLIMITED = { subs: -1, data: -1, payload: -1 }
const COUNTED = ['imports', 'exports', 'conn', 'leaf', 'mem_storage', 'disk_storage', 'streams', 'consumer']
const NO_LIMITS = { ...UNLIMITED, ...Object.fromEntries(COUNTED.map((name) => [name, -1])), wildcards: true }

function accountToken(fleet: string, keys: TeamKeys, revoked: TeamFile['revoked'], now: number): string {
  const revocations = Object.fromEntries(revoked.map(({ key, time }) => [natsName('user', key), time]))
  return natsToken({
    name: `cordon ${fleet}`,
    subject: { role: 'account', key: keys('account').publicKey },
    issuer: { role: 'operator', key: keys('operator') },
    nats: { limits: NO_LIMITS, default_permissions: { pub: {}, sub: {} }, revocations },
    issued: Math.floor(now / 1000),
  })
}

function natsConfiguration(
  fleet: string,
  keys: TeamKeys,
  revoked: TeamFile['revoked'],
  now: number,
  directory: string,
): string {
  const issuer = { role: 'operator', key: keys('operator') } as const
  const issued = Math.floor(now / 1000)
  const system = natsName('account', keys('system').publicKey)
  const none = { mem_storage: 0, disk_storage: 0, streams: 0, consumer: 0 }
  const systemToken = natsToken({
    name: 'SYS',
    subject: { role: 'account', key: keys('system').publicKey },
    issuer,
    nats: { limits: { ...NO_LIMITS, ...none }, default_permissions: { pub: {}, sub: {} } },
    issued,
  })
  const operatorToken = natsToken({
    name: `cordon ${fleet}`,
    subject: { role: 'operator', key: keys('operator').publicKey },
    issuer,
    nats: { system_account: system },
    issued,
  })
  return `operator: ${operatorToken}
system_account: ${system}
# The default of 2 s is short where a thousand machines log in at once.
authorization: { timeout: 20 }
resolver: { type: full, dir: ${JSON.stringify(directory)}, interval: "1m" }
resolver_preload: {
  ${natsName('account', keys('account').publicKey)}: ${accountToken(fleet, keys, revoked, now)}
  ${system}: ${systemToken}
}
`
}

function isTeamFile(value: unknown): value is TeamFile {
  const file = value as Partial<TeamFile> | null
  return file?.version === 1 && Array.isArray(file.members) && Array.isArray(file.revoked)
}
