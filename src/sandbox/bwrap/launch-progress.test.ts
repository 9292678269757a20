import { expect, test } from 'vitest'
import { faultOfLayer } from './launch-progress.ts'

test.each([
  {
    note: 'a project of somebody else, mode 0700',
    said: "bwrap: Can't find source path /home/other/p: Permission denied",
    code: 'sandbox-failed',
    message: '/home/other/p cannot be shown to the command: permission denied',
    remedy: 'closed to you',
  },
  {
    note: 'gone between the scan and the mounts',
    said: "bwrap: Can't get type of source /srv/data: No such file or directory",
    code: 'sandbox-failed',
    message: '/srv/data cannot be shown',
    remedy: 'no longer exists',
  },
  {
    note: 'no user namespaces: here doctor knows more',
    said: 'bwrap: setting up uid map: Permission denied',
    code: 'sandbox-userns',
    message: 'setting up uid map',
    remedy: 'cordon doctor',
  },
])('$note', ({ said, code, message, remedy }) => {
  expect(faultOfLayer('bubblewrap', said, 'exit 1')).toMatchObject({
    code,
    message: expect.stringContaining(message),
    remedy: expect.stringContaining(remedy),
  })
})
