/** The installation's own start of the real program: with the hook it is asked in every place, without it it is missed in every one. */

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { rehearse } from '../../src/surfaces/hook/install/rehearsal.ts'
import type { Agent } from './agents.ts'
import { cordon, endLeftovers, findable, programOf, runProgram } from './program.ts'
import { asNobody, ownByUser, USER } from './session.ts'

const REHEARSAL = join(import.meta.dirname, '../../src/surfaces/hook/install/rehearsal.ts')
const PLACES = 'the project and a folder of it and a worktree'

/** Installs and takes out again, for real; the problems found. */
export async function rehearsed(agent: Agent, guarded: boolean): Promise<readonly string[]> {
  const base = mkdtempSync(join(process.env.CORDON_AGENTS_TMP ?? '/var/tmp', `cordon-install-${agent.name}-`))
  const [home, root] = [join(base, 'home'), join(base, 'project')]
  const as = asNobody ? USER : []
  const env = {
    PATH: findable,
    HOME: home,
    TERM: 'dumb',
    CI: '1',
    CORDON_KEYCHAIN: 'off',
    IS_SANDBOX: '1',
    ...trust(agent),
  }
  try {
    for (const folder of [home, join(root, 'src')]) mkdirSync(folder, { recursive: true })
    writeFileSync(join(root, 'src/a.txt'), 'a\n')
    for (const words of [
      ['init', '-q'],
      ['add', '.'],
      ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'x'],
    ])
      spawnSync('git', ['-C', root, ...words])
    // It takes another model from those alone who chose to log in with a key.
    if (agent.name === 'gemini') agent.prepare({ home, project: root, port: 0 })
    if (asNobody) ownByUser(base)
    if (!guarded) {
      const place = { scope: 'user', root, home, env, cordon: [], wrapper: '' }
      const call = `rehearse(${[agent.name, programOf(agent), place].map((word) => JSON.stringify(word)).join()})`
      const code = `import { rehearse } from ${JSON.stringify(REHEARSAL)}; console.log(JSON.stringify(await ${call}))`
      const alone = await runProgram([...as, process.execPath, '--input-type=module', '-e', code], root, env)
      if (alone.status !== 0) return [`it could not be started: ${alone.stderr.slice(0, 300)}`]
      const tried = JSON.parse(alone.stdout) as Awaited<ReturnType<typeof rehearse>>
      const wrong = tried.filter(({ outcome }) => outcome !== 'missed')
      return tried.length === 3 && wrong.length === 0
        ? []
        : [`without a hook it was not missed: ${JSON.stringify(tried)}`]
    }
    const run = (...args: readonly string[]) => runProgram([...as, ...cordon, ...args], root, env)
    const installed = await run('install', agent.name, '--yes')
    const asks = installed.status === 0 && installed.stderr.includes(`started in ${PLACES}, asks it`)
    const out = await run('install', agent.name, '--yes', '--uninstall')
    const left = leftOf(home)
    return [
      ...(asks ? [] : [`it was not asked everywhere: ${installed.stderr.slice(0, 600)}`]),
      ...(out.status === 0 ? [] : [`it could not be taken out: ${out.stderr.slice(0, 300)}`]),
      ...(left.length === 0 ? [] : [`it left ${left.join(', ')}`]),
    ]
  } finally {
    endLeftovers(home)
    rmSync(base, { recursive: true, force: true })
  }
}

/** Without trust in the folder Gemini CLI does not start at all. */
const trust = ({ name }: Agent): Readonly<Record<string, string>> =>
  name === 'gemini' ? { GEMINI_CLI_TRUST_WORKSPACE: 'true' } : {}

/** Files of ours in the home, by their names: hooks, plugins, programs, backups. */
function leftOf(home: string): readonly string[] {
  const names = (folder: string): readonly string[] =>
    existsSync(folder) ? readdirSync(folder, { recursive: true }).map(String) : []
  return names(home).filter((name) =>
    /\.cordon-backup$|\/cordon\.(js|ts|json|rules)$|hooks\/(Pre|Post)ToolUse$/.test(name),
  )
}
