// A component that tries what its task names. What the host gives is stubbed where it runs without the wall, as its own control.
import { log } from 'cordon:agent/console@0.1.0'
import { complete } from 'cordon:agent/model@0.1.0'
import { get, set } from 'cordon:agent/storage@0.1.0'
import { call, catalog } from 'cordon:agent/tools@0.1.0'

const wait = (milliseconds) => {
  const end = Date.now() + milliseconds
  while (Date.now() < end);
}

const said = (error) => String(error?.payload ?? error?.message ?? error)

const attempts = {
  loops: (milliseconds) => {
    // A clock is not among what it reaches: it may stand still.
    if (Number(milliseconds) > 10_000) for (;;);
    wait(Number(milliseconds))
    return 'still here'
  },
  pattern: (letters) => {
    ;/^(a+)+$/.test(`${'a'.repeat(Number(letters))}b`)
    return 'tried'
  },
  memory: (megabytes) => {
    const kept = []
    for (let at = 0; at < Number(megabytes); at++) kept.push(new Uint8Array(1024 * 1024).fill(at + 1))
    return `got ${kept.length}`
  },
  recurses: () => {
    const deep = (left) => (left === 0 ? 0 : 1 + deep(left - 1))
    return `deep ${deep(8_000)}`
  },
  floods: (megabytes) => {
    for (let at = 0; at < Number(megabytes) * 20; at++) log('x'.repeat(50_000))
    return 'flooded'
  },
  calls: (count) => {
    for (let at = 0; at < Number(count); at++) get('x')
    return 'called'
  },
  tool: () => {
    try {
      return `did ${call('write', '{"path":"made.txt","content":"x"}')}`
    } catch (error) {
      return `refused: ${said(error)}`
    }
  },
  secret: (path) => {
    try {
      return `read ${call('read', JSON.stringify({ path }))}`
    } catch (error) {
      return `refused: ${said(error)}`
    }
  },
  model: () => {
    try {
      return `answered ${complete('{"messages":[]}')}`
    } catch (error) {
      return `refused: ${said(error)}`
    }
  },
  quota: () => {
    try {
      set('big', 'x'.repeat(100_000))
      return 'stored'
    } catch (error) {
      return `refused: ${said(error)}`
    }
  },
  pollutes: () => {
    Object.prototype.kind = 'done'
    Array.prototype.toJSON = () => ['read']
    set('__proto__', 'x')
    return `${get('__proto__')} ${JSON.parse(catalog()).length}`
  },
  globals: () => {
    const found = ['process', 'require', 'Deno', 'WebSocket', 'XMLHttpRequest'].filter((name) => name in globalThis)
    return `found ${found.join()}`
  },
  fetches: async (address) => {
    try {
      return `fetched ${(await fetch(address)).status}`
    } catch (error) {
      return `refused: ${said(error)}`
    }
  },
}

export async function run(task) {
  const [name, argument] = task.split(' ')
  return String(await attempts[name](argument))
}
