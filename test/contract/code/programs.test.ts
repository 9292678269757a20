/** Programs in a session: what comes back, and that each call from inside is decided, asked about and recorded by itself. */

import { readFileSync } from 'node:fs'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { resultText } from '../../../src/call/tool-result.ts'
import type { Session } from '../../../src/session/session.ts'
import { openSessionWorld, type SessionWorld } from '../session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
  world.file('a.txt', 'hello\n')
  world.file('.env', 'SECRET=1\n')
  for (let i = 0; i < 50; i++) world.file(`many/${i}.txt`, `file ${i}\n`)
})
afterEach(() => world.close())

const allowed = { python_exec: 'allow', code_exec: 'allow', sandbox_run: 'allow' }

async function open(more: Record<string, unknown> = {}): Promise<Session> {
  const object = { schema_version: 1, permission: { tools: allowed }, ...more }
  return (await world.open({ manifest: { object }, prompter: world.prompter })).openSession()
}

async function textOf(session: Session, tool: string, code: string, more: object = {}): Promise<string> {
  const input = tool === 'sandbox_run' ? { language: 'bash', code, ...more } : { code, ...more }
  return resultText(await session.call(tool, input))
}

/** The lines of the record that begin a call or deny it. */
const calls = () => world.auditLines().filter(({ type }) => type === 'begin' || type === 'denied')

const ways = [
  {
    tool: 'python_exec',
    read: 'cordon.read("a.txt")',
    twice: 'x = [cordon.read(f"many/{i}.txt").data["text"] for i in range(50)]\nlen("".join(x))',
    waits: 'cordon.bash("sleep 1.5").data["exitCode"]',
    caught: 'try:\n    cordon.read("/etc/shadow")\nexcept cordon.ToolError as e:\n    print("no:", e.code)',
  },
  {
    tool: 'code_exec',
    read: '(await tools.read("a.txt")).text',
    twice: 'let t = ""; for (let i = 0; i < 50; i++) t += (await tools.read("many/" + i + ".txt")).data.text; t.length',
    waits: '(await tools.bash("sleep 1.5")).data.exitCode',
    caught: 'try { await tools.read("/etc/shadow") } catch (e) { console.log("no:", e.code) }',
  },
]

describe.each(ways)('$tool', ({ tool, read, twice, waits, caught }) => {
  it('asks by itself, and again for each call that asks', async () => {
    const session = await open({ permission: { mode: 'custom', tools: { ...allowed, read: 'ask', [tool]: 'ask' } } })
    world.answer = () => ({ kind: 'once' })
    expect(await textOf(session, tool, read)).toContain('hello')
    expect(world.asked.map((request) => request.tool)).toEqual([tool, 'read'])
  })

  it('gets a no from a person, and can go on', async () => {
    const session = await open({ permission: { tools: { ...allowed, read: 'ask' } } })
    world.answer = () => ({ kind: 'deny' })
    expect(await textOf(session, tool, caught.replace('/etc/shadow', 'a.txt'))).toContain('no: refused')
  })

  it('waits for a call longer than its own time', async () => {
    world.answer = () => ({ kind: 'once' })
    expect(await textOf(await open(), tool, waits, { timeout: 1 })).toMatch(/^0\b/)
  })

  it('is denied what the policy denies', async () => {
    expect(await textOf(await open(), tool, caught)).toContain('no: denied')
  })

  it('makes fifty calls, each with a line of the record that names it', async () => {
    const session = await open()
    const text = await textOf(session, tool, twice)
    expect(text).toContain('390')
    expect(text).toContain('[50 guarded calls]')
    const [outer, ...inner] = calls()
    expect(outer).toMatchObject({ tool })
    expect(inner).toHaveLength(50)
    expect(new Set(inner.map((line) => line.within))).toEqual(new Set([outer!.call]))
  })

  it('does not see the project by itself, and starts no interpreter of its kind', async () => {
    const session = await open()
    const look = tool === 'python_exec' ? `import os\nos.path.exists(${JSON.stringify(world.root)})` : 'typeof process'
    expect(await textOf(session, tool, look)).toMatch(/^(?:False|undefined)/)
    const again = tool === 'python_exec' ? 'cordon.call("code_exec", code="1")' : 'await tools.python_exec("1")'
    expect(await textOf(session, tool, again)).toMatch(/there is no tool|not a function/)
  })

  it('is stopped by plan mode', async () => {
    const session = await open({ permission: { mode: 'plan', tools: allowed } })
    expect(await session.call(tool, { code: '1' })).toMatchObject({ status: 'denied' })
  })

  it('takes what a tool says for data', async () => {
    world.file('a.txt', '"); process.exit(1); ("\n{"__proto__": {"polluted": 1}}\n')
    const code =
      tool === 'python_exec'
        ? `t = ${read}\nprint(len(t) > 10, hasattr(t, "polluted"))`
        : `const t = ${read}; [t.length > 10, ({}).polluted]`
    expect(await textOf(await open(), tool, code)).toMatch(/True False|\[true,null\]/)
  })
})

describe('python_exec', () => {
  it('keeps its state where that is asked for, and only there', async () => {
    const session = await open()
    await textOf(session, 'python_exec', 'x = 41', { keep: true })
    expect(await textOf(session, 'python_exec', 'x + 1', { keep: true })).toContain('42')
    expect(await textOf(session, 'python_exec', 'x + 1')).toContain('NameError')
  })

  it('says why a kept interpreter is gone, and starts another', async () => {
    const session = await open()
    await textOf(session, 'python_exec', 'x = 1', { keep: true })
    expect(await textOf(session, 'python_exec', 'while True: pass', { keep: true, timeout: 1 })).toContain(
      'limit of time',
    )
    expect(await textOf(session, 'python_exec', 'x', { keep: true })).toContain('NameError')
  })

  it('brings files back', async () => {
    const result = await (await open()).call('python_exec', {
      code: 'open("t.csv", "w").write("a,b\\n")\nopen(".hidden", "w").write("x")',
    })
    const created =
      result.status === 'done' ? (result.output.data as { files: { name: string; path: string }[] }).files : []
    expect(created.map(({ name }) => name)).toEqual(['t.csv'])
    expect(readFileSync(created[0]!.path, 'utf8')).toBe('a,b\n')
  })

  const modules = [
    {
      name: 'a blocked module',
      python: { blocked_modules: ['ctypes'] },
      code: 'import ctypes',
      says: /ctypes is blocked/,
    },
    {
      name: 'a part of a blocked one',
      python: { blocked_modules: ['os'] },
      code: 'import os.path',
      says: /os\.path is blocked/,
    },
    {
      name: 'a blocked part',
      python: { blocked_modules: ['os.path'] },
      code: 'from os import path',
      says: /os\.path is blocked/,
    },
    {
      name: 'by importlib',
      python: { blocked_modules: ['ctypes'] },
      code: 'import importlib\nimportlib.import_module("ctypes")',
      says: /ctypes is blocked/,
    },
    {
      name: 'one that is not allowed',
      python: { allowed_modules: ['json'] },
      code: 'import socket',
      says: /socket is not among/,
    },
    {
      name: 'one that is allowed, with what it needs',
      python: { allowed_modules: ['json'] },
      code: 'import json\njson.dumps([1])',
      says: /\[1\]/,
    },
    {
      name: 'the tools',
      python: { allowed_modules: ['json'] },
      code: 'import cordon\ncordon.read("a.txt")',
      says: /hello/,
    },
  ]
  it.each(modules)('$name', async ({ python, code, says }) => {
    expect(await textOf(await open({ capabilities: { python } }), 'python_exec', code)).toMatch(says)
  })

  it('runs the programs of a kept interpreter one after the other', async () => {
    const session = await open()
    await textOf(session, 'python_exec', 'order = []', { keep: true })
    const add = (n: number) =>
      textOf(session, 'python_exec', `cordon.read("a.txt")\norder.append(${n})`, { keep: true })
    await Promise.all([add(1), add(2), add(3)])
    expect(await textOf(session, 'python_exec', 'order', { keep: true })).toMatch(/^\[1, 2, 3\]/)
    const begun = calls()
    const programs = begun.filter(({ tool }) => tool === 'python_exec').map(({ call }) => call)
    expect(begun.filter(({ tool }) => tool === 'read').map(({ within }) => within)).toEqual(programs.slice(1, 4))
  })

  it('gains nothing by talking to Cordon itself', async () => {
    const forged = `import os
for fd in range(3, 64):
    try: os.write(fd, b'{"kind":"call","run":0,"id":99,"tool":"read","input":{"path":"/etc/shadow"}}\\n{"kind":"done","run":0,"value":"forged"}\\nnot json\\n')
    except OSError: pass
"end"`
    const session = await open()
    expect(await textOf(session, 'python_exec', forged)).toMatch(/forged|end/)
    for (const line of calls().filter((one) => one.tool === 'read')) expect(line.type).toBe('denied')
  })
})

describe('code_exec', () => {
  const programs = [
    { name: 'the last value', code: '[1, 2].map((x) => x * 2)', says: /^\[2,4\]/ },
    { name: 'a returned one', code: 'return 5', says: /^5/ },
    { name: 'types', code: 'interface A { x: number }\nconst a: A = { x: 7 }; a.x as number', says: /^7/ },
    { name: 'types and a return', code: 'const a: number = 8\nreturn a', says: /^8/ },
    { name: 'what is awaited', code: 'await new Promise((go) => setTimeout(() => go("later"), 20))', says: /^later/ },
    {
      name: 'what is printed',
      code: 'console.log("one", { two: 2 }); console.error("three")',
      says: /one \{"two":2\}[\s\S]*three/,
    },
    { name: 'an error', code: 'throw new TypeError("no good")', says: /TypeError: no good/ },
    { name: 'a mistake', code: 'const = 1', says: /SyntaxError/ },
    {
      name: 'calls at once',
      code: 'const all = await Promise.all(Array.from({ length: 30 }, (_, i) => tools.read("many/" + i + ".txt"))); all.length',
      says: /^30/,
    },
    { name: 'a tool that is not there', code: 'await tools.nothing()', says: /not a function/ },
    { name: 'a text that nests without end', code: '['.repeat(50_000), says: /RangeError|SyntaxError/ },
    {
      name: 'an input with a prototype',
      code: `try { await tools.read(JSON.parse('{"path":"a.txt","__proto__":{"limit":1}}')) } catch (e) { e.message }`,
      says: /does not take "__proto__"/,
    },
    {
      name: 'an input that is nothing as JSON',
      code: 'try { await tools.read({ toJSON() {} }) } catch (e) { e.message }',
      says: /"path" .*missing|needs "path"|path/,
    },
    {
      name: 'an input whose getter throws',
      code: 'try { await tools.read({ get path() { throw new Error("mine") } }) } catch (e) { e.message }',
      says: /^mine/,
    },
    {
      name: 'its result after it spoiled its own built-ins',
      code: 'Object.prototype.kind = "done"; JSON.parse = JSON.stringify = null; Map.prototype.get = () => null; Array.prototype.toJSON = () => 1; 5',
      says: /^5/,
    },
    { name: 'a promise that never ends', code: 'await new Promise(() => {})', says: /limit of time/ },
  ]
  it.each(programs)('gives back $name', async ({ name, code, says }) => {
    const timeout = name === 'a promise that never ends' ? 1 : 60
    expect(await textOf(await open(), 'code_exec', code, { timeout })).toMatch(says)
  })

  it('lists the types of the tools', async () => {
    const session = await open()
    const text = resultText(await session.call('code_exec', { declarations: true }))
    expect(text).toContain('read(input: string | { path: string;')
    expect(text).not.toContain('code_exec')
  })
})

describe('sandbox_run', () => {
  it('is given only files that may be read', async () => {
    const session = await open({ sandbox: { run: { engines: ['os'] } } })
    expect(await textOf(session, 'sandbox_run', 'cat a.txt; ls', { files: ['a.txt'] })).toMatch(/^hello\na\.txt\n/)
    const secret = await session.call('sandbox_run', { language: 'bash', code: 'cat .env', files: ['.env'] })
    expect(secret.status).not.toBe('done')
    const outside = await session.call('sandbox_run', { language: 'bash', code: 'cat shadow', files: ['/etc/shadow'] })
    expect(outside).toMatchObject({ status: 'denied' })
  })

  it('says which wall was in force and which limit was reached', async () => {
    const text = await textOf(await open({ sandbox: { run: { engines: ['os'] } } }), 'sandbox_run', 'echo hi')
    expect(text).toMatch(/^hi\n\[ran in os: the OS sandbox \(bwrap\)\]/)
  })

  it('lists the languages that are there', async () => {
    const text = resultText(await (await open()).call('sandbox_run', { language: 'cobol', code: '' }))
    expect(text).toMatch(/there are .*bash/)
  })
})
