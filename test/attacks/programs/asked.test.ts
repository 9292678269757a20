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
    // git itself ran: there is no such repository.
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
