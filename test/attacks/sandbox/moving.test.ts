/** A command of one process moves folders while those of another start: the scan for secrets misses none. */

import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { chownSync, existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { until } from '../../until.ts'
import { asUser, eachUser } from '../../users.ts'
import { controlArguments } from './control.ts'

const STARTS = 12
const READ = 'for i in 1 2 3 4 5 6; do cat a/s/.env b/s/.env; done 2>/dev/null; echo RAN'
/** From a folder that has been looked through to one that has not, and back. */
const MOVE = 'touch begun; until [ -e stop ]; do mv b/s a/s; mv a/s b/s; done'

eachUser(describe)('as $name', (user) => {
  let root: string
  let project: string
  let mover: ChildProcess

  const words = (argv: readonly string[]) => asUser(user, argv)
  const options = () => ({
    cwd: project,
    env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
    encoding: 'utf8' as const,
  })
  const cordon = (script: string) => words([process.execPath, CLI, 'run', '--', 'bash', '-c', script])

  beforeEach(async () => {
    root = realpathSync(mkdtempSync('/var/tmp/cordon-moving-'))
    project = join(root, 'project')
    for (const folder of ['project/a', 'project/b/s', 'home']) mkdirSync(join(root, folder), { recursive: true })
    for (let i = 0; i < 40; i++) mkdirSync(join(project, `a/${i}`))
    writeFileSync(join(project, 'b/s/.env'), 'TOPSECRET\n')
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, root])
    chownSync(root, user.uid, user.gid)
    const [program, ...args] = cordon(MOVE)
    mover = spawn(program!, args, { ...options(), stdio: 'ignore' })
    await until('it begins', () => existsSync(join(project, 'begun')))
  })
  afterEach(async () => {
    writeFileSync(join(project, 'stop'), '')
    if (mover.exitCode === null) await new Promise((resolve) => mover.once('exit', resolve))
    rmSync(root, { recursive: true, force: true })
  })

  test('stopped: every command either starts with all secrets hidden, or not at all', () => {
    for (let i = 0; i < STARTS; i++) {
      const [program, ...args] = cordon(READ)
      const { stdout, stderr } = spawnSync(program!, args, options())
      expect(stdout).not.toContain('TOPSECRET')
      expect(stdout + stderr).toMatch(/^RAN$|\[mask-moved\]/m)
    }
    expect(mover.exitCode, 'the folders are not being moved').toBe(null)
  })

  test('works without protection', () => {
    const [program, ...args] = words(['bwrap', ...controlArguments('open', root), '--', 'bash', '-c', READ])
    expect(spawnSync(program!, args, options()).stdout).toContain('TOPSECRET')
  })
})
