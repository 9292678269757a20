/** One command puts a folder with a secret where no look finds it, another starts, and the first one puts it back. */

import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { CLI } from '../../e2e/cordon.ts'
import { until } from '../../until.ts'
import { asUser, eachUser } from '../../users.ts'

const ways: readonly [name: string, hide: string, back: string][] = [
  ['into a folder that is closed', 'mkdir x; mv s x/s; chmod 000 x', 'chmod 700 x; mv x/s s'],
  [
    'below a path that is too long',
    'd=$(printf "%0200d" 0); mv s ../s2 2>/dev/null || mkdir k; p=k; for i in $(seq 19); do p=$p/$d; mkdir $p 2>/dev/null || break; done; mv s $p/s',
    'mv $p/s s',
  ],
]

eachUser(describe)('as $name', (user) => {
  let root: string
  let project: string
  const options = () => ({
    cwd: project,
    env: { PATH: '/usr/bin:/bin', HOME: join(root, 'home') },
    encoding: 'utf8' as const,
  })
  const cordon = (script: string) => asUser(user, [process.execPath, CLI, 'run', '--', 'bash', '-c', script])

  beforeEach(() => {
    root = realpathSync(mkdtempSync('/var/tmp/cordon-hiding-'))
    project = join(root, 'project')
    for (const folder of ['project/s', 'home']) mkdirSync(join(root, folder), { recursive: true })
    writeFileSync(join(project, 's/.env'), 'TOPSECRET\n')
    execFileSync('chown', ['-R', `${user.uid}:${user.gid}`, root])
  })
  afterEach(() => execFileSync('rm', ['-rf', root]))

  test.each(ways)('%s', async (_, hide, back) => {
    const [program, ...args] = cordon(
      `${hide}; touch begun; until [ -e looking ]; do sleep 0.05; done; ${back}; touch back; sleep 1`,
    )
    const mover = spawn(program!, args, { ...options(), stdio: 'ignore' })
    await until('it begins', () => existsSync(join(project, 'begun')))
    const [reader, ...words] = cordon(
      'touch looking; for i in $(seq 40); do cat s/.env; [ -e back ] && sleep 0.05; done 2>/dev/null; echo RAN',
    )
    const { stdout, stderr } = spawnSync(reader!, words, options())
    writeFileSync(join(project, 'looking'), '')
    await new Promise((resolve) => (mover.exitCode === null ? mover.once('exit', resolve) : resolve(null)))
    expect(stdout).not.toContain('TOPSECRET')
    expect(stdout + stderr).toMatch(/^RAN$|\[mask-moved\]/m)
  })
})
