import { userInfo } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, it, vi } from 'vitest'
import { thisMachine } from './machine.ts'

afterEach(() => vi.unstubAllEnvs())

it.each(['', 'here', './home'])(
  'a HOME of “%s” is not one to keep state in: it would be the folder one is in',
  (home) => {
    vi.stubEnv('HOME', home)
    vi.stubEnv('XDG_STATE_HOME', home)
    expect(thisMachine()).toMatchObject({
      home: userInfo().homedir,
      stateDir: join(userInfo().homedir, '.local/state/cordon'),
    })
  },
)
