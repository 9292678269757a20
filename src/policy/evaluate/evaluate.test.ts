/** One row for each thing that a decision must not forget; P0's order itself is `test/cases/p0.test.ts`. */

import { describe, expect, it } from 'vitest'
import {
  bashCall,
  callOf,
  commandRule,
  fileFact,
  HOME,
  pathRule,
  policyOf,
  ROOT,
  sessionOf,
  sourced,
} from '../../../test/cases/policy-fixture.ts'
import { parseHostPattern } from '../../hosts/pattern.ts'
import { parseUrl } from '../../hosts/url.ts'
import type { SessionFacts, ShellFact, ToolCall } from '../call.ts'
import type { Verdict } from '../order.ts'
import type { AgentRule, HostRule, Policy } from '../policy.ts'
import { settle } from '../settle.ts'
import { evaluate } from './evaluate.ts'

const decide = (call: ToolCall, policy: Partial<Policy> = {}, session: Partial<SessionFacts> = {}): string => {
  const { decision, reason } = evaluate(policyOf(policy), sessionOf(session), call)
  return `${decision} ${reason.code}`
}

const read = (path: string): ToolCall => callOf('read', { reads: [fileFact(path)] })
const write = (path: string): ToolCall => callOf('write', { writes: [fileFact(path)] })
const list = (path: string): ToolCall => callOf('list', { lists: [fileFact(path)] })

const fetched = (url: string, method = 'GET'): ToolCall =>
  callOf('webfetch', { hosts: [{ given: url, url: parseUrl(url), method, ownAddresses: [] }] })

const hostRule = (text: string, narrowed: Pick<HostRule, 'methods' | 'paths'> = {}): HostRule => {
  const parsed = parseHostPattern(text, null)
  if ('problem' in parsed) throw new Error(parsed.problem)
  return { pattern: parsed.pattern, rule: `host ${text}`, source: 'test.toml:4:1', ...narrowed }
}

const bash = (command: string, shell: Partial<ShellFact> = {}): ToolCall => {
  const call = bashCall(command)
  return { ...call, shell: { ...call.shell!, ...shell } }
}

const contained: Partial<Policy> = {
  mode: sourced('contained', 'permission.mode'),
  flags: { ...policyOf().flags, command_substitution: sourced(true), redirects: sourced('all') },
}
const auto: Partial<Policy> = { mode: sourced('auto', 'permission.mode') }

const agent = (trustScore: number, tools: readonly (readonly [string, Verdict])[] = []): Partial<Policy> => {
  const rule: AgentRule = {
    trustScore: sourced(trustScore),
    mode: null,
    tools: new Map(tools.map(([tool, level]) => [tool, sourced(level)])),
  }
  return { agent: sourced('other'), agents: new Map([['other', rule]]) }
}

const granted = (...patterns: string[]): Partial<Policy> => ({
  commands: { ...policyOf().commands, allow: patterns.map((text) => commandRule(text)), declared: true },
})

describe('rings (P8)', () => {
  // biome-ignore format: a table is read by its columns.
  it.each([
    [0.8,  'write'], [0.6,  'write'], [0.59, 'ring'], [0, 'ring'],
  ] as const)('a trust score of %d: %s', (score, what) => {
    const expected = what === 'ring' ? 'deny ring' : 'allow level-allow'
    expect(decide(write('a.txt'), agent(score))).toBe(expected)
    expect(decide(fetched('https://example.org/'), agent(score))).toBe(expected)
    expect(decide(read('a.txt'), agent(score))).toBe('allow level-allow')
  })

  it('an agent that nobody scored is in ring 2', () => {
    expect(decide(write('a.txt'), { agent: sourced('stranger') })).toBe('allow level-allow')
  })

  it('ring 3 runs no command', () => {
    expect(decide(bash('ls'), { ...agent(0.5), ...granted('ls:*') })).toBe('deny ring')
  })
})

describe('observe mode (P11)', () => {
  const observe = { observe: { rule: 'permission.mode', source: 'user.toml:2:1' } }

  it('asks nothing that is not firm, and says what would have been asked', () => {
    const asking = granted('ls:*')
    expect(decide(bash('make'), asking)).toBe('ask not-granted')
    expect(decide(bash('make'), { ...asking, ...observe })).toBe('allow observed')
  })

  it('answers no firm ask, and no denial', () => {
    const firm = { ...granted('cat:*'), ...observe }
    expect(decide(read('.env'), firm)).toBe('ask secret')
    expect(decide(bash('sudo make'), firm)).toMatch(/^deny /)
    const asked = { decision: 'ask', reason: { code: 'secret', message: '' }, rules: [], segments: [] } as const
    expect(settle(asked, policyOf(observe), true)).toMatchObject({ outcome: 'refuse' })
    expect(settle(asked, policyOf(), true)).toMatchObject({ outcome: 'prompt' })
  })
})

describe('levels', () => {
  it('a denial of any layer applies, whatever another one allows', () => {
    const tools = new Map([['write', sourced<Verdict>('allow')]])
    expect(decide(write('a.txt'), { ...agent(0.7, [['write', 'deny']]), tools })).toBe('deny level-deny')
    const levels = new Map([['write', sourced<Verdict>('allow')]])
    expect(decide(write('a.txt'), agent(0.7, [['write', 'deny']]), { levels })).toBe('deny level-deny')
    const denied = new Map([['write', sourced<Verdict>('deny')]])
    expect(decide(write('a.txt'), { tools: denied }, { levels })).toBe('deny level-deny')
  })

  it('an open breaker closes reading as well', () => {
    expect(decide(read('a.txt'), {}, { breakerOpenFor: 3 })).toBe('deny breaker')
  })
})

describe('the whole call', () => {
  it('is as strict as its strictest part, and gives the first of the strictest as the reason', () => {
    const policy = { reads: { allow: [], deny: [pathRule('a'), pathRule('b')], declared: false } }
    const call = callOf('read', { reads: ['x', 'a', 'b'].map(fileFact) })
    const decision = evaluate(policyOf(policy), sessionOf(), call)
    expect(decision.decision).toBe('deny')
    expect(decision.reason.message).toContain('Reading a ')
    expect(decision.rules[0]).toEqual({ rule: 'path a', source: 'test.toml:2:1' })
    expect(decision.segments).toHaveLength(3)
  })

  it('also judges what is listed', () => {
    const policy = { reads: { allow: [], deny: [pathRule('hidden/**')], declared: false } }
    expect(decide(list('hidden/a'), policy)).toBe('deny denied-by-rule')
    expect(decide(list('/srv'), {})).toBe('deny outside-roots')
  })

  it('asks for the confirmation that a tool wants, beside what else it does', () => {
    const call = callOf('deploy', { writes: [fileFact('a.txt')], requireConfirmation: true })
    const tools = new Map([['deploy', sourced<Verdict>('allow')]])
    expect(decide(call, { tools })).toBe('ask needs-confirmation')
    expect(decide({ ...call, requireConfirmation: false }, { tools })).toBe('allow level-allow')
    const denied = new Map([['deploy', sourced<Verdict>('deny')]])
    expect(decide(call, { tools: denied })).toBe('deny level-deny')
  })

  it('does not ask again about what the session itself started', () => {
    expect(decide(callOf('bash', { ownOnly: true }))).toBe('allow harmless')
    expect(decide(callOf('bash'))).toBe('ask level-ask')
  })
})

describe('instructions that the session has read (A3)', () => {
  const steered = { labels: new Map([['instructions', 'a page']]) }
  const asks = {
    flows: [{ from: 'instructions', to: 'files', level: 'ask' as const, rule: 'taint_asks', source: 't' }],
  }
  it('what reaches out asks, and with taint_asks what writes and runs', () => {
    expect(decide(fetched('https://example.org/'), {}, steered)).toBe('ask flow')
    expect(decide(fetched('https://example.org/'), {})).toBe('allow level-allow')
    expect(decide(write('a.txt'), {}, steered)).toBe('allow level-allow')
    expect(decide(write('a.txt'), asks, steered)).toBe('ask flow')
    expect(decide(bash('npm test'), { ...granted('npm test:*'), ...asks }, steered)).toBe('ask flow')
  })

  it('reading, and what changes nothing, goes on', () => {
    expect(decide(read('a.txt'), asks, steered)).toBe('allow level-allow')
    expect(decide(bash('echo hi'), asks, steered)).toBe('allow harmless')
  })

  it('a denial stays one', () => {
    expect(decide(write('cordon.toml'), asks, steered)).toBe('deny protected-path')
  })
})

describe('places that are protected (F8)', () => {
  const named = (...texts: string[]): Partial<Policy> => ({
    writes: { allow: texts.map((text) => pathRule(text)), deny: [], declared: true },
  })
  const own = { additionalDirectories: [sourced(HOME)] }

  it('Cordon’s own state cannot even be read, and nothing opens it', () => {
    const state = `${HOME}/.local/state/cordon/grants.json`
    expect(decide(read(state), own)).toBe('deny protected-path')
    expect(decide(list(state), own)).toBe('deny protected-path')
    expect(decide(write(state), { ...own, ...named(state) })).toBe('deny protected-path')
  })

  it('the manifest may be read, and is written only where it is named by its very path', () => {
    expect(decide(read('cordon.toml'))).toBe('allow level-allow')
    expect(decide(write('cordon.toml'), named('**'))).toBe('deny protected-path')
    expect(decide(write('cordon.toml'), named('cordon.*'))).toBe('deny protected-path')
    expect(decide(write('cordon.toml'), named('cordon.toml'))).toBe('allow granted')
  })
})

describe('paths', () => {
  it('a denied read does not deny the write, nor the other way round', () => {
    const reads = { reads: { allow: [], deny: [pathRule('a')], declared: false } }
    const writes = { writes: { allow: [], deny: [pathRule('a')], declared: false } }
    expect([decide(read('a'), reads), decide(write('a'), reads)]).toEqual(['deny denied-by-rule', 'allow level-allow'])
    expect([decide(read('a'), writes), decide(write('a'), writes)]).toEqual([
      'allow level-allow',
      'deny denied-by-rule',
    ])
  })

  it('a change envelope closes every write outside of it, and a session widens it', () => {
    const envelope = { envelope: [pathRule('src/**')] }
    expect(decide(write('src/a.ts'), envelope)).toBe('allow level-allow')
    expect(decide(write('docs/a.md'), envelope)).toBe('deny outside-envelope')
    expect(decide(write('docs/a.md'), envelope, { envelope: [pathRule('docs/**')] })).toBe('allow level-allow')
    expect(decide(write('src/a.ts'), { envelope: [] })).toBe('deny outside-envelope')
    expect(decide(read('docs/a.md'), envelope)).toBe('allow level-allow')
  })

  it('a secret asks even in auto mode, unless a grant names it', () => {
    expect(decide(read('.env'), auto)).toBe('ask secret')
    expect(decide(read('.env'), { reads: { allow: [pathRule('**')], deny: [], declared: true } })).toBe('ask secret')
    expect(decide(read('.env'), { reads: { allow: [pathRule('.env')], deny: [], declared: true } })).toBe(
      'allow granted',
    )
    expect(decide(read('.env'), { maskSecrets: false })).toBe('allow level-allow')
    expect(decide(list('.env'))).toBe('allow level-allow')
  })

  it('of two grants the one that does not prompt counts', () => {
    const rules = { allow: [pathRule('src/**', true), pathRule('src/a.ts')], deny: [], declared: true }
    expect(decide(write('src/a.ts'), { writes: rules })).toBe('allow granted')
    expect(decide(write('src/b.ts'), { writes: rules })).toBe('ask grant-prompts')
  })
})

describe('files of commands', () => {
  const runs = (command: string, policy: Partial<Policy> = contained) => decide(bash(command), policy)

  it('the system is there to be read, by an absolute name', () => {
    expect(runs('cat /etc/hostname')).toBe('allow contained')
    expect(runs('cat ../../../etc/hostname')).toBe('deny outside-roots')
    expect(runs('cat /etc/shadow')).not.toMatch(/^allow/)
    expect(runs('cp a /etc/hostname')).toBe('deny outside-roots')
  })

  it('another process does not help', () => {
    expect(runs('cat /proc/1/root/etc/hostname')).toBe('deny outside-roots')
    expect(runs('cat /proc/self/environ')).toBe('deny outside-roots')
    const asks = { ...contained, outsideRoots: sourced<'ask'>('ask') }
    expect(runs('cat /proc/1/environ', asks)).toBe('ask outside-roots')
    expect(runs('cat /proc/cpuinfo')).toBe('allow contained')
  })

  it('redirects to files are off unless all are on', () => {
    const strict = granted('npm test:*')
    expect(decide(bash('npm test > out'), strict)).toBe('deny shell-syntax-off')
    expect(decide(bash('npm test 2>&1'), strict)).toBe('allow granted')
    const none = { ...strict, flags: { ...policyOf().flags, redirects: sourced<'none'>('none') } }
    expect(decide(bash('npm test 2>&1'), none)).toBe('deny shell-syntax-off')
    expect(runs('npm test > cordon.toml')).toBe('deny protected-path')
  })

  it('what runs outside the project asks', () => {
    expect(runs('cd /srv && make')).toBe('ask outside-cwd')
    expect(runs('cd sub && make')).toMatch(/^allow/)
    expect(decide(bash('cd "$X" && make'), granted('make'))).toBe('ask outside-cwd')
  })
})

describe('commands', () => {
  it('a hazard takes a grant its force', () => {
    expect(decide(bash('git status'), granted('git:*'))).toBe('allow granted')
    expect(decide(bash('git -c core.pager=x status'), granted('git:*'))).toBe('ask not-understood')
    expect(decide(bash('PATH=. git status'), granted('git:*'))).toBe('ask not-understood')
    expect(decide(bash('export PATH=.'))).toBe('ask not-understood')
  })

  it('a grant of a wrapper covers what it runs only when its words reach there', () => {
    expect(decide(bash('timeout 60 npm test'), granted('timeout 60 npm test:*'))).toMatch(/^allow/)
    expect(decide(bash('timeout 60 npm test'), granted('timeout 60:*'))).toBe('ask not-granted')
    expect(decide(bash('timeout 60 npm test'), granted('npm test:*'))).toMatch(/^allow/)
  })

  it('bash’s own word on the syntax counts', () => {
    expect(decide(bash('npm test', { syntaxError: 'unexpected end' }), granted('npm test'))).toBe('deny unparseable')
  })

  it('a substring is denied in whatever case it is written', () => {
    const shellPolicy = { allow: [], deny: [sourced('Drop Table')] }
    expect(decide(bash('echo "DROP TABLE x"'), { shellPolicy })).toBe('deny shell-policy')
    const filter = { allow: [sourced('NPM')], deny: [] }
    expect(decide(bash('npm test'), { ...granted('npm test'), shellPolicy: filter })).toBe('allow granted')
    expect(decide(bash('echo hi'), { shellPolicy: filter })).toBe('deny shell-policy')
  })

  it.each(['.cordon/skills/x/run.sh', 'bash .cordon/skills/x/run.sh', '. .cordon/skills/x/run.sh'])(
    'a script of a skill that nobody approved asks even in auto mode: %s',
    (command) => {
      const scriptProblem = (path: string) =>
        path.startsWith(`${ROOT}/.cordon/skills/`) ? 'it was not approved' : null
      expect(decide(bash(command, { scriptProblem }), auto)).toBe('ask unapproved-script')
      expect(decide(bash(command, { scriptProblem: () => null }), auto)).toMatch(/^allow/)
    },
  )

  const SCRIPT = '.cordon/skills/x/run.sh'
  it.each([
    ['a copy', `cp ${SCRIPT} y.sh && sh y.sh`, 'ask'],
    ['a copy that is a program', `cp ${SCRIPT} y.sh && ./y.sh`, 'ask'],
    ['a copy that is found on PATH', `cp ${SCRIPT} y.sh; PATH=.:$PATH y.sh`, 'ask'],
    ['a copy by its folder', 'cp -r .cordon/skills/x d; sh d/run.sh', 'ask'],
    ['a copy by a pattern', 'cp .cordon/skills/x/* . && sh run.sh', 'ask'],
    ['a copy from within', 'cd .cordon/skills/x && cp run.sh ../../../z.sh; sh ../../../z.sh', 'ask'],
    ['written by a redirect', `cat ${SCRIPT} > y.sh; bash y.sh`, 'ask'],
    ['another name of it', `ln ${SCRIPT} y.sh; sh y.sh`, 'ask'],
    ['a link to it', `ln -s ${SCRIPT} y.sh; sh y.sh`, 'ask'],
    ['through tar', 'tar c .cordon/skills/x | tar x -C d; sh d/.cordon/skills/x/run.sh', 'ask'],
    ['through a pipe', `cat ${SCRIPT} | sh`, 'ask'],
    ['as input', `sh < ${SCRIPT}`, 'ask'],
    ['as text', `bash -c "$(cat ${SCRIPT})"`, 'ask'],
    ['evaluated', `eval "$(cat ${SCRIPT})"`, 'ask'],
    ['by a wrapper', `cp ${SCRIPT} y.sh; env sh y.sh`, 'ask'],
    ['by find', `cp ${SCRIPT} y.sh; find . -name y.sh -exec sh {} ';'`, 'ask'],
    ['read', `cat ${SCRIPT}`, 'allow'],
    ['read, and something else run', `cat ${SCRIPT}; sh test.sh`, 'allow'],
    ['searched, and something else run', 'grep -r one .; sh test.sh', 'allow'],
    ['its words taken along, which are no script', 'cp .cordon/skills/x/SKILL.md b.md; sh b.md', 'allow'],
    ['another copy', 'cp a b; sh b', 'allow'],
  ])('a script of a skill is the same one wherever a text takes it: %s', (_, command, verdict) => {
    const isScript = (path: string) => path === `${ROOT}/${SCRIPT}`
    const scriptProblem = (path: string) => (isScript(path) ? 'it was not approved' : null)
    const scriptBelow = (path: string) => (`${ROOT}/${SCRIPT}/`.startsWith(`${path}/`) ? 'it was not approved' : null)
    const open = {
      ...auto,
      flags: { ...policyOf().flags, command_substitution: sourced(true), redirects: sourced('all' as const) },
    }
    expect(decide(bash(command, { scriptProblem, scriptBelow }), open).split(' ')[0]).toBe(verdict)
    expect(decide(bash(command, { scriptProblem: () => null, scriptBelow: () => null }), open)).toMatch(/^allow/)
  })

  it('what cannot be seen may be what is denied, and auto mode does not answer that', () => {
    const deny = { ...auto, commands: { ...policyOf().commands, deny: [commandRule('rm')] } }
    expect(decide(bash('xargs $x'), deny)).toBe('ask maybe-denied')
    expect(decide(bash('$x y'), deny)).toBe('ask maybe-denied')
    expect(decide(bash('$x y'), auto)).toBe('allow auto-accepted')
  })
})

describe('hosts of the web tools', () => {
  const http = (...allowed: HostRule[]): Partial<Policy> => ({ http: { allowed, denied: [], allowPrivate: false } })

  it('a list admits what it names and denies the rest', () => {
    expect(decide(fetched('https://example.org/'), http(hostRule('example.org')))).toBe('allow granted')
    expect(decide(fetched('https://example.com/'), http(hostRule('example.org')))).toBe('deny host-denied')
    expect(decide(fetched('https://example.com/'), auto)).toBe('allow level-allow')
    expect(decide(fetched('http://169.254.169.254/'), auto)).toBe('deny address-refused')
    expect(decide(fetched('notaurl'), auto)).toBe('deny bad-url')
  })

  it('a rule may be narrowed to methods and paths', () => {
    const narrow = http(hostRule('example.org', { methods: ['GET'], paths: ['/api/**'] }))
    expect(decide(fetched('https://example.org/api/x'), narrow)).toBe('allow granted')
    expect(decide(fetched('https://example.org/api/x', 'POST'), narrow)).toBe('deny host-denied')
    expect(decide(fetched('https://example.org/admin'), narrow)).toBe('deny host-denied')
  })

  it('a host that was agreed to in the session is on the list', () => {
    const grants = { ...sessionOf().grants, hosts: [hostRule('example.com')] }
    expect(decide(fetched('https://example.com/'), http(hostRule('example.org')), { grants })).toBe('allow granted')
  })
})

describe('web tools in contained mode ask as curl does', () => {
  const listed = (...rules: HostRule[]): Partial<Policy> => ({
    ...contained,
    http: { ...policyOf().http, allowed: rules },
  })
  const agreed: Partial<SessionFacts> = {
    grants: { reads: [], writes: [], commands: [], hosts: [hostRule('api.example.org')] },
  }
  const reads = 'https://api.example.org/x'
  it.each([
    ['a new host', fetched(reads), contained, {}, 'ask host-not-granted'],
    ['a post to a new host', fetched(reads, 'POST'), contained, {}, 'ask remote-write'],
    ['a host that was agreed to', fetched(reads), contained, agreed, 'allow granted'],
    ['a post to one', fetched(reads, 'POST'), contained, agreed, 'allow granted'],
    ['another host than that', fetched('https://evil.example.com/'), contained, agreed, 'ask host-not-granted'],
    ['a listed host', fetched(reads), listed(hostRule('api.example.org')), {}, 'allow granted'],
    ['a post to a listed host', fetched(reads, 'POST'), listed(hostRule('api.example.org')), {}, 'ask remote-write'],
    [
      'a post that is listed',
      fetched(reads, 'POST'),
      listed(hostRule('api.example.org', { methods: ['POST'] })),
      {},
      'allow granted',
    ],
    [
      'a host beside the list',
      fetched('https://b.example.org/'),
      listed(hostRule('api.example.org')),
      {},
      'deny host-denied',
    ],
    ['a private address', fetched('http://127.0.0.1/'), contained, agreed, 'deny address-refused'],
    ['the same without the mode', fetched(reads, 'POST'), {}, {}, 'allow level-allow'],
  ] as const)('%s', (_, call, policy, session, expected) => {
    expect(decide(call, policy, session)).toBe(expected)
  })
})

describe('a refusal says all that it is about', () => {
  it.each([
    ['sudo pip install requests', 'python3 -m venv .venv'],
    ['sudo -H -u root npm install -g typescript', 'without -g'],
    ['sudo apt-get install -y jq', 'package manager'],
    ['doas systemctl restart nginx', 'systemctl --user'],
    ['sudo make install', 'PREFIX=$HOME/.local'],
    ['sudo frobnicate', 'work in the project'],
  ])('%s names the way without privileges for that command', (command, way) => {
    const { decision, reason } = evaluate(policyOf(auto), sessionOf(), bash(command))
    expect([decision, reason.code]).toEqual(['deny', 'privilege'])
    expect(reason.remedy).toContain(way)
    expect(reason.remedy).toContain('hand this exact command to the user')
  })

  it('names the whole rule, with the names that narrow it', () => {
    const rule = pathRule('secrets/**')
    const narrowed = { ...rule, pattern: { ...rule.pattern, files: ['*.key', '*.pem'] } }
    const reads = { ...policyOf().reads, deny: [narrowed] }
    const { reason } = evaluate(policyOf({ reads }), sessionOf(), read(`${ROOT}/secrets/a.key`))
    expect(reason.message).toContain('{ path = "secrets/**", files = ["*.key", "*.pem"] }')
  })
})

describe('code without the project and a network', () => {
  const tools = ['sandbox_run', 'python_exec', 'code_exec']
  const levels = (tool: string): Partial<Policy> => ({
    ...contained,
    tools: new Map([[tool, sourced<Verdict>('ask')]]),
  })
  it.each(tools)('%s stays in its box in contained mode, and asks elsewhere', (tool) => {
    expect(decide(callOf(tool), contained)).toBe('allow contained')
    expect(decide(callOf(tool))).toBe('ask level-ask')
    expect(decide(callOf(tool), levels(tool))).toBe('ask level-ask')
    expect(decide(callOf(tool), { mode: sourced('plan', 'permission.mode') })).toBe('deny plan-mode')
  })
  it('what is handed in is judged as a read', () => {
    expect(decide(callOf('sandbox_run', { reads: [fileFact('a.txt')] }), contained)).toBe('allow contained')
    expect(decide(callOf('sandbox_run', { reads: [fileFact('.env')] }), contained)).toBe('ask secret')
  })
  it('a custom tool asks', () => {
    expect(decide(callOf('deploy'), contained)).toBe('ask level-ask')
  })
})
