import { expect, it } from 'vitest'
import { rootProblem } from './baseline.ts'

it.each([
  ['/', 'whole machine'],
  ['/home/ada', 'your home'],
  ['/home', 'lies in it'],
  ['/tmp', 'other projects'],
  ['/opt', 'other projects'],
  ['/usr/src', 'other projects'],
  ['/etc', 'system folder'],
  ['/etc/nginx', 'system folder'],
  ['/usr/lib/node_modules/x', 'system folder'],
  ['/proc/1/root', 'system folder'],
  ['/home/ada/work', null],
  ['/home/bob/work', null],
  ['/tmp/project', null],
  ['/opt/app', null],
  ['/srv/www/site', null],
  ['/usr/src/linux', null],
  ['/usr/local/src/tool', null],
  ['/var/www/site', null],
  ['/etcetera', null],
])('%s', (root, why) => {
  const problem = rootProblem(root, '/home/ada')
  if (why === null) expect(problem).toBeNull()
  else expect(problem).toContain(why)
})

it('a home that is the root of a container is still refused', () => {
  expect(rootProblem('/', '/')).toContain('whole machine')
  expect(rootProblem('/work', '/')).toBeNull()
})
