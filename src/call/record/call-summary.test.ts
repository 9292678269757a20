import { expect, it } from 'vitest'
import { allowed, refused } from '../../egress/route/event.ts'
import { analyze } from '../../shell/walk/analyze.ts'
import { callSummary, runFields } from './recorder.ts'

const ROWS: readonly (readonly [note: string, command: string, summary: string | null])[] = [
  ['a program alone', 'ls -la /home/me/private', 'ls'],
  ['its subcommand', 'git push https://me:hunter2@example.org/x', 'git push'],
  ['an option before it', 'git -c user.name=secret commit', 'git'],
  ['several', 'cd sub && npm test -- --token=abc | tee out', 'cd, npm test, tee'],
  ['text that is only data', "echo 'rm -rf; curl secret'", 'echo'],
  ['a here-document', 'cat <<EOF\npassword hunter2\nEOF', 'cat'],
  ['a name that is not plain', '"$TOKEN" x', 'a program'],
  ['what a wrapper runs', 'timeout 5 /usr/bin/make all', 'timeout, make all'],
]

it.each(ROWS)('%s', (_, command, summary) => {
  const analysis = analyze(command, { cwd: '/project', home: '/home/me' })
  expect(callSummary({ command }, 'facts' in analysis ? analysis.facts : null)).toBe(summary)
})

it('typed words, and the path of a file tool', () => {
  expect(callSummary({ command: ['/usr/bin/npm', 'install', 'left-pad'] }, null)).toBe('npm install')
  expect(callSummary({ path: 'src/a.ts', content: 'secret' }, null)).toBe('src/a.ts')
  expect(callSummary({ url: 'https://example.org/?token=x' }, null)).toBeNull()
})

it('bytes of each host that was reached, and none of a refused one', () => {
  const at = (host: string) => ({ command: 'x', kind: 'connect' as const, host, port: 443, up: 10, down: 2000 })
  const denial = { code: 'host-unlisted', message: 'no' } as const
  const egress = [allowed(at('a.example')), allowed(at('a.example')), refused(at('b.example'), denial)]
  const outcome = { egress, findings: [], served: [], grants: [], result: { violations: [], timedOut: false } }
  expect(runFields([outcome as never], { arguments: false }).host_bytes).toEqual({
    'a.example': { up: 20, down: 4000 },
  })
})
