/** Runs the attacks of test/attacks in the peers' sandboxes as an ordinary user, and writes docs/reference/attacks.md from what happened. */

import { spawnSync } from 'node:child_process'
import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { wrapped } from '../scripts/lint-prose.ts'
import { publishedSection } from '../test/attacks/published/published.ts'
import type { Attack } from '../test/attacks/sandbox/attack.ts'
import { FILE_ATTACKS } from '../test/attacks/sandbox/file-attacks.ts'
import { type Fixture, makeFixture } from '../test/attacks/sandbox/fixture.ts'
import { KERNEL_ATTACKS } from '../test/attacks/sandbox/kernel-attacks.ts'
import { asUser, ORDINARY as USER } from '../test/users.ts'
import { installPeers, type Peer } from './peers.ts'

const ATTACKS: readonly Attack[] = [...FILE_ATTACKS, ...KERNEL_ATTACKS].filter((attack) => attack.layout === 'usual')

/** As the test does: a caller without a core limit, and one descriptor that a careless program leaks. */
function careless(fixture: Fixture, argv: readonly string[]): [string, string[]] {
  const script = 'ulimit -c unlimited; exec 9<"$1"; shift; exec "$@"'
  return ['bash', ['-c', script, 'bash', join(fixture.root, 'outside/secret'), ...argv]]
}

/** Which attacks got through, by index; null when the peer did not run them at all. */
type Escapes = ReadonlySet<number> | null

async function attackWith(run: (fixture: Fixture, scratch: string) => string): Promise<Escapes> {
  const fixture = await makeFixture(USER, ATTACKS)
  const scratch = mkdtempSync('/var/tmp/cordon-peer-')
  chmodSync(scratch, 0o755)
  chownSync(scratch, USER.uid, USER.gid)
  try {
    const results = [...run(fixture, scratch).matchAll(/RESULT\t(\d+)\t(.*)/g)]
    if (results.length === 0) return null
    return new Set(results.filter((match) => match[2]!.includes('ESCAPED')).map((match) => Number(match[1])))
  } finally {
    await fixture.close()
    rmSync(scratch, { recursive: true, force: true })
  }
}

function inPeer(peer: Peer): (fixture: Fixture, scratch: string) => string {
  return (fixture, scratch) => {
    const driver = ['/usr/bin/bash', join(fixture.root, 'readonly/driver.sh')]
    const [program, args] = careless(fixture, asUser(USER, peer.command(driver, { project: fixture.project, scratch })))
    mkdirSync(join(scratch, 'codex'), { recursive: true })
    chownSync(join(scratch, 'codex'), USER.uid, USER.gid)
    const env = { ...fixture.env, A: join(fixture.root, 'readonly/attacks/usual'), CODEX_HOME: join(scratch, 'codex') }
    const ran = spawnSync(program, args, {
      cwd: fixture.project,
      env,
      encoding: 'utf8',
      timeout: 300_000,
      maxBuffer: 1 << 26,
    })
    return `${ran.stdout}${ran.stderr}`
  }
}

function inCordon(fixture: Fixture): string {
  const sandboxes = join(import.meta.dirname, '../test/attacks/sandbox/sandboxes.ts')
  const [program, args] = careless(fixture, asUser(USER, [process.execPath, sandboxes]))
  const ran = spawnSync(program, args, { input: JSON.stringify(fixture), encoding: 'utf8', maxBuffer: 1 << 26 })
  return `${ran.stdout}${ran.stderr}`
}

const columns: [name: string, escapes: Escapes][] = [['Cordon', await attackWith(inCordon)]]
for (const peer of installPeers()) columns.push([peer.name, await attackWith(inPeer(peer))])

const groups = [...new Set(ATTACKS.map((attack) => attack.name.split(':')[0]!))]
const count = (escapes: Escapes, group: string | null): string => {
  if (escapes === null) return 'did not run'
  const found = ATTACKS.filter(
    (attack, index) => escapes.has(index) && (group === null || attack.name.startsWith(`${group}:`)),
  )
  return String(found.length)
}
const header = ['Group', 'Attacks', ...columns.map(([name]) => name)]
const rows = groups.map((group) => [
  group,
  String(ATTACKS.filter((attack) => attack.name.startsWith(`${group}:`)).length),
  ...columns.map(([, escapes]) => count(escapes, group)),
])
const total = ['**all**', String(ATTACKS.length), ...columns.map(([, escapes]) => `**${count(escapes, null)}**`)]
const table = [header, header.map(() => '---'), ...rows, total].map((cells) => `| ${cells.join(' | ')} |`)
const each = ATTACKS.map((attack, index) => {
  const cells = columns.map(([, escapes]) => (escapes === null ? '' : escapes.has(index) ? 'escaped' : 'blocked'))
  return `| ${[attack.name, attack.note, ...cells].join(' | ')} |`
})
const text = `# Attacks

<!-- Written by bench/attack-peers.ts. -->

\`node bench/attack-peers.ts\` runs the attacks of \`test/attacks\` from inside four sandboxes. It runs them as an ordinary user,
on the same files, and counts what really happened. \`npm test\` runs them in Cordon as root and as a user, each with a control
that shows the attack working without its protection.

The other sandboxes promise less, so an escape is not always a bug. Plain bubblewrap and Codex show the whole file system
read-only by design. The settings were:

- sandbox-runtime: \`denyRead\` for ~/.ssh and ~/.aws, no network;
- Codex: \`sandbox_mode="workspace-write"\`;
- bubblewrap as in its manual: \`--ro-bind / / --bind PROJECT --unshare-all\`.

The numbers below count escapes.

${table.join('\n')}

${publishedSection()}
## Each attack

| Attack | What it tries | ${columns.map(([name]) => name).join(' | ')} |
|${' --- |'.repeat(columns.length + 2)}
${each.join('\n')}
`
writeFileSync(new URL('../docs/reference/attacks.md', import.meta.url), wrapped(text))
console.log(table.join('\n'))
process.exitCode = columns[0]![1]?.size === 0 ? 0 : 1
