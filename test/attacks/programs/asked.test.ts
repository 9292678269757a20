/** What asks by its own words is asked when it starts (S8, P10): a push of a script is a push, and text that no one can read needs no question. */

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openSessionWorld, type SessionWorld } from '../../contract/session/session-world.ts'

let world: SessionWorld
beforeEach(() => {
  world = openSessionWorld()
})
afterEach(() => world.close())

const CONTAINED =
  'schema_version = 1\n[permission]\nmode = "contained"\n[security]\nredirects = "all"\ncommand_substitution = true\n'
/** Scripts of the project have a host, so that something elsewhere can be changed. */
const WITH_HOST = `${CONTAINED}[capabilities.allow.commands]\npatterns = [{ command = "sh release.sh:*", domains = ["example.org"] }]\n`
const PUSH = 'g=git\n$g -C . push https://example.org/r.git main 2>&1\necho "pushed $?"\n'

async function run(command: string) {
  const result = await (await world.open()).openSession().call('bash', { command })
  return 'output' in result ? result.output.text : result.status
}

describe('a push of a script', () => {
  it('is asked while the script waits, and refused by a no', async () => {
    world.file('release.sh', PUSH)
    await world.sign(WITH_HOST)
    const text = await run('sh release.sh')
    expect(world.asked.map(({ subject }) => subject)).toEqual(['git -C . push https://example.org/r.git main'])
    expect(world.asked[0]!.decision.reason.message).toMatch(/^release\.sh starts it: /)
    expect(text).toContain('pushed 126')
    expect(text).toMatch(/`git -C \. push .*`, started by release\.sh, was refused: /)
  })

  it('runs after a yes, and the time does not run while somebody is asked', async () => {
    world.file('release.sh', PUSH)
    await world.sign(`${WITH_HOST}[limits]\ncommand_timeout = 1\n`)
    world.answer = async () => {
      await new Promise((resolve) => setTimeout(resolve, 1500))
      return { kind: 'once' }
    }
    const text = await run('sh release.sh')
    expect(world.asked).toHaveLength(1)
    // git itself ran: no such repository exists.
    expect(text).toMatch(/pushed 128/)
  })

  it('is one question for the same words', async () => {
    world.file('release.sh', `${PUSH}${PUSH}`)
    await world.sign(WITH_HOST)
    await run('sh release.sh')
    expect(world.asked).toHaveLength(1)
  })

  it('is not asked again where the text named it', async () => {
    await world.sign(
      `${CONTAINED}[capabilities.allow.commands]\npatterns = [{ command = "git push:*", prompt = true, domains = ["example.org"] }]\n`,
    )
    world.answer = () => ({ kind: 'once' })
    expect(await run('git push https://example.org/r.git main 2>&1')).not.toContain('not permitted')
    expect(world.asked).toHaveLength(1)
  })

  it('control: is not asked about where nothing elsewhere can be reached', async () => {
    world.file('release.sh', PUSH)
    await world.sign(CONTAINED)
    expect(await run('sh release.sh')).toContain('pushed 128')
    expect(world.asked).toHaveLength(0)
  })
})

describe('text that nobody can read', () => {
  const DENIED = `${CONTAINED}[capabilities.deny.commands]\npatterns = ["touch"]\n`
  it.each([
    ['eval of data', 'echo "touch mark" > data; read -r v < data; eval "$v"'],
    ['a shell of input', 'echo dG91Y2ggbWFyaw== | base64 -d | sh'],
    ['a computed name', 't=tou; c=$(printf ch); "$t$c" mark'],
    ['a copy', 'cp "$(command -v t""ouch)" a; ./a mark'],
    ['data that bash evaluates', 'echo "a[\\$(touch mark)]" > data; read -r v < data; [[ $v -eq 1 ]]'],
  ])('runs unasked, and the denial applies to what it starts: %s', async (_, command) => {
    await world.sign(DENIED)
    const text = await run(command)
    expect(world.asked.map(({ decision }) => decision.reason.message)).toEqual([])
    expect(existsSync(join(world.root, 'mark'))).toBe(false)
    expect(text).toMatch(/was refused|denied/)
  })

  it('still asks where the denial is one of a builtin, which nobody starts', async () => {
    await world.sign(`${CONTAINED}[capabilities.deny.commands]\npatterns = ["kill"]\n`)
    await run('read -r v < cordon.toml; eval "$v kill"')
    expect(world.asked.length).toBe(1)
  })

  it('still asks in a mode that asks about commands', async () => {
    await world.sign(DENIED.replace('contained', 'custom'))
    await run('read -r v < cordon.toml; eval "$v"')
    expect(world.asked.length).toBe(1)
  })
})

describe('a script of a skill that nobody has approved (T3)', () => {
  const PATH = '.agents/skills/s/run.sh'
  const put = (text = '#!/bin/sh\n: > mark\n') => {
    world.file('.agents/skills/s/SKILL.md', '# S\n')
    world.file(PATH, text, 0o755)
  }
  const hasRun = () => existsSync(join(world.root, 'mark'))
  const WAYS: readonly (readonly [string, string])[] = [
    ['a computed name', `sh $(echo ${PATH})`],
    ['a computed name of the program', `$(echo ./${PATH})`],
    ['words of input', `xargs sh <<< ${PATH}`],
    ['a program of input', `xargs env <<< ./${PATH}`],
    ['a program of Python', `python3 -c 'import os; os.system("./${PATH}")'`],
    ['a shell of Python', `python3 -c 'import os; os.execvp("sh", ["sh", "-e", "./${PATH}"])'`],
    [
      'a link created by another program',
      `python3 -c 'import os; os.symlink("${PATH}", "x"); os.execvp("sh", ["sh", "x"])'`,
    ],
    ['a second name', `python3 -c 'import os; os.link("${PATH}", "x"); os.execv("x", ["x"])'`],
    ['a copy', `python3 -c 'import os,shutil; shutil.copy("${PATH}", "x"); os.execvp("sh", ["sh", "x"])'`],
    [
      'a copied shell',
      `python3 -c 'import os,shutil; shutil.copy("/bin/sh", "cat"); os.execv("./cat", ["cat", "${PATH}"])'`,
    ],
    [
      'the loader',
      `python3 -c 'import os,glob; l=glob.glob("/lib*/ld-linux-*")[0]; os.execv(l, [l, "/bin/sh", "${PATH}"])'`,
    ],
    [
      'an interpreter line',
      `python3 -c 'import os; open("x","w").write("#!/bin/sh ${PATH}\\n"); os.chmod("x",0o755); os.execv("x", ["x"])'`,
    ],
    ['a file read by a computed name', `. $(echo ./${PATH})`],
    ['a file read by a shell of input', `xargs bash -c '. "$1"' x <<< ./${PATH}`],
    ['many words before it', `xargs sh $(printf -- '-o errexit %.0s' {1..70}) <<< ${PATH}`],
    ['its own text', `bash -c ". $(echo ./${PATH})"`],
    ['its text through a pipe', `cat $(echo ${PATH}) | sh`],
    ['its text in Python', `python3 -c 'import os; os.system(open("${PATH}").read())'`],
  ]

  it.each(WAYS)('does not run by %s', async (_, command) => {
    put()
    await world.sign(CONTAINED)
    await run(command)
    expect(hasRun()).toBe(false)
    expect(world.asked.map(({ decision }) => decision.reason.code)).toContain('unapproved-script')
  })

  it('does not run where it is too large, or no part of a skill, to be approved', async () => {
    await world.sign(CONTAINED)
    const large = `${': '.padEnd(1_100_000, 'x')}\n`
    world.file('.agents/skills/s/SKILL.md', '# S\n')
    for (const [path, text] of [
      ['.agents/skills/s/large.sh', large],
      ['.cordon/skills/loose.sh', ''],
    ] as const) {
      world.file(path, `: > mark\n${text}`)
      await run(`xargs sh <<< ${path}`)
      expect([path, hasRun()]).toEqual([path, false])
    }
    expect(world.asked.map(({ decision }) => decision.reason.code)).toEqual(['unapproved-script', 'unapproved-script'])
  })

  it('control: each of them runs the same file where it is not a skill’s', async () => {
    await world.sign(CONTAINED)
    for (const [way, command] of WAYS) {
      world.file('tools/run.sh', '#!/bin/sh\n: > mark\n', 0o755)
      await run(command.replaceAll(PATH, 'tools/run.sh'))
      expect([way, hasRun()]).toEqual([way, true])
      await run('rm -f mark x cat')
    }
    expect(world.asked).toHaveLength(0)
  })

  it('control: may be read, and runs once it was agreed to', async () => {
    put()
    await world.sign(CONTAINED)
    expect(await run(`cat $(echo ${PATH}); grep -c mark $(echo ${PATH})`)).toContain(': > mark')
    expect(world.asked).toHaveLength(0)
    world.answer = () => ({ kind: 'once' })
    await run(`sh ${PATH}`)
    expect(hasRun()).toBe(true)
    expect(world.asked).toHaveLength(1)
  })
})
