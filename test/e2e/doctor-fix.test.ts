/** `cordon doctor --fix`, in throw-away namespaces in which user namespaces are switched off. */

import { spawnSync } from 'node:child_process'
import { dirname } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { asUser, eachUser, giveTo, type User } from '../users.ts'
import { CLI, Project } from './cordon.ts'

let project: Project

beforeEach(() => {
  project = new Project()
})

afterEach(() => project.remove())

/** Runs sh in them, as their root. `$cordon`: the built program. */
function run(user: User, script: string, off = true): { code: number | null; out: string; err: string } {
  giveTo(user.uid, dirname(project.directory))
  const first = `mount -t tmpfs none /etc/sysctl.d${off ? ' && echo 0 > /proc/sys/user/max_user_namespaces' : ''}`
  const apart = ['unshare', '--user', '--map-root-user', '--mount', '--fork', 'sh', '-c', `${first} && ${script}`]
  const [program, ...args] = asUser(user, apart)
  const done = spawnSync(program!, args, {
    cwd: project.directory,
    env: { PATH: process.env.PATH, HOME: project.home, cordon: CLI, node: process.execPath, CORDON_RESIDENT: 'off' },
    encoding: 'utf8',
    input: '',
  })
  return { code: done.status, out: done.stdout, err: done.stderr }
}

const DOCTOR = '"$node" "$cordon" doctor'

eachUser(describe)('as $name', (user) => {
  it('shows what it would do, does it, and commands run', () => {
    const { code, out, err } = run(
      user,
      `${DOCTOR} --fix --yes && cat /etc/sysctl.d/* && "$node" "$cordon" run -- echo inside`,
    )
    expect(err).toContain('write /proc/sys/user/max_user_namespaces\n    15000')
    expect(out).toContain('Commands run in the sandbox here.')
    expect(out).toContain('user.max_user_namespaces = 15000\ninside\n')
    expect(code).toBe(0)
  })

  it('without a yes changes nothing, and names the remedy', () => {
    const { code, out, err } = run(
      user,
      `{ ${DOCTOR} --fix; echo "exit $?"; ls /etc/sysctl.d; cat /proc/sys/user/max_user_namespaces; }`,
    )
    expect(err).toContain('nothing was changed')
    expect(out).toContain('User namespaces are switched off')
    expect(out).toContain('`cordon doctor --fix` shows this')
    // Commands run all the same, behind Landlock.
    expect(out).toMatch(/exit 0\n0\n$/)
    expect(code).toBe(0)
  })

  it('says in JSON what it would do', () => {
    const { out } = run(user, `${DOCTOR} --json; true`)
    const { assurances } = JSON.parse(out) as { assurances: { name: string; repair?: unknown[] }[] }
    expect(assurances.find(({ name }) => name === 'namespaces')?.repair?.[0]).toEqual({
      kind: 'write',
      path: '/proc/sys/user/max_user_namespaces',
      text: '15000\n',
    })
  })

  it('says which step failed', () => {
    const { err } = run(user, `mount -t tmpfs -o ro none /etc/sysctl.d && ${DOCTOR} --fix --yes; true`)
    expect(err).toMatch(/a step failed \(it ended with \d+\):\n {2}write \/etc\/sysctl\.d\//)
  })
})

it('has nothing to do where all is well', () => {
  const { err } = project.cordon(['doctor', '--fix'])
  expect(err).toContain('Cordon can repair nothing here')
})
