import { describe, expect, it } from 'vitest'
import { AGENT_INTERFACES, AGENT_WIT, componentImports, foreignImports } from './imports.ts'

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00]

/** A component of nothing but imports; `kind` 5 is an interface. */
function component(names: readonly string[], { kind = 5, form = 0, before = [] as number[] } = {}): Uint8Array {
  const entries = names.flatMap((name) => [form, name.length, ...Buffer.from(name), kind, 0])
  const body = [names.length, ...entries]
  return Uint8Array.from([...MAGIC, ...before, 10, ...leb(body.length), ...body])
}

function leb(value: number): number[] {
  return value < 128 ? [value] : [(value & 127) | 128, ...leb(value >> 7)]
}

describe('the imports of a component', () => {
  it('are read, other sections skipped', () => {
    const custom = [0, 3, 1, 0x78, 0x79]
    expect(componentImports(component(AGENT_INTERFACES, { before: custom }))).toEqual(AGENT_INTERFACES)
    expect(componentImports(Uint8Array.from(MAGIC))).toEqual([])
  })

  it('are added up over several sections', () => {
    const [first, second] = [component(['a:b/c']), component(['wasi:cli/environment@0.2.0']).subarray(8)]
    expect(componentImports(Uint8Array.from([...first, ...second]))).toEqual(['a:b/c', 'wasi:cli/environment@0.2.0'])
  })

  const foreign = [
    { name: 'of WASI', imported: 'wasi:filesystem/types@0.2.0' },
    { name: 'of another version', imported: 'cordon:agent/tools@0.2.0' },
    { name: 'without a version', imported: 'cordon:agent/tools' },
    { name: 'of another package', imported: 'cordon:agents/tools@0.1.0' },
    { name: 'of another interface', imported: 'cordon:agent/files@0.1.0' },
    { name: 'that looks alike', imported: 'cordon:agent/tools@0.1.0 ' },
  ]
  it.each(foreign)('$name are foreign', ({ imported }) => {
    expect(foreignImports(componentImports(component([...AGENT_INTERFACES, imported])))).toEqual([imported])
  })

  const broken = [
    { name: 'a core module', bytes: Uint8Array.from([0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]), says: /not a WASM component/ },
    { name: 'nothing', bytes: new Uint8Array(), says: /not a WASM component/ },
    { name: 'an import of a function', bytes: component(['f'], { kind: 1 }), says: /not an interface/ },
    { name: 'an import of a core module', bytes: component(['m'], { kind: 0 }), says: /not an interface/ },
    { name: 'a name of an unknown form', bytes: component(['f'], { form: 2 }), says: /unknown form/ },
    { name: 'a section past the end', bytes: Uint8Array.from([...MAGIC, 10, 100, 0]), says: /past the end/ },
    {
      name: 'a number without an end',
      bytes: Uint8Array.from([...MAGIC, 10, 255, 255, 255, 255, 255, 255]),
      says: /no end/,
    },
    {
      name: 'more in the section than it counts',
      bytes: Uint8Array.from([...MAGIC, 10, 2, 0, 0]),
      says: /not as long/,
    },
  ]
  it.each(broken)('$name does not load', ({ bytes, says }) => {
    expect(() => componentImports(bytes)).toThrow(says)
  })

  it('cut anywhere are refused, or a shorter list of the same', () => {
    const whole = component(AGENT_INTERFACES)
    for (let length = 8 + 1; length < whole.length; length++) {
      expect(() => componentImports(whole.subarray(0, length)), String(length)).toThrow()
    }
  })

  it('are what the package imports', () => {
    const imported = [...AGENT_WIT.matchAll(/^ {2}import (\w+);$/gm)].map(([, name]) => `cordon:agent/${name}@0.1.0`)
    expect(imported).toEqual(AGENT_INTERFACES)
  })
})
