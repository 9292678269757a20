/** PURE. Reads a component's imports from its bytes: they bound what it can reach. */

/** The interfaces of `cordon:agent`, all that a component may import. WASI is not among them. */
export const AGENT_INTERFACES: readonly string[] = ['model', 'tools', 'storage', 'console'].map(
  (name) => `cordon:agent/${name}@0.1.0`,
)

/** The WIT package for authors of components. */
export const AGENT_WIT = `package cordon:agent@0.1.0;

/// A model, as the profile of the component's user names it.
interface model {
  /// JSON in: {"system": "…", "messages": [{"role": "user", "text": "…"}], "tools": ["read"]}; without "system" the model
  /// gets the prompt of Cordon's own agent. JSON out: {"text": "…", "message": …, "stop": "end" | "calls" | "length" | "refused", …}; the
  /// message goes back as it came, and its calls are answered by {"role": "results", "results": [{"id", "name", "text", "isError"}]}.
  complete: func(request: string) -> result<string, string>;
}

/// The tools of the session: every call is decided, asked about and recorded like any other.
interface tools {
  /// Names, descriptions and JSON Schemas, as JSON.
  catalog: func() -> string;
  /// The input as JSON in, {"text": "…", "data": …} as JSON out; a call that was not done is an error that says why.
  call: func(tool: string, input: string) -> result<string, string>;
}

/// What the component keeps from one run to the next, up to its quota.
interface storage {
  get: func(key: string) -> option<string>;
  set: func(key: string, value: string) -> result<_, string>;
}

interface console {
  log: func(text: string);
}

world agent {
  import model;
  import tools;
  import storage;
  import console;
  export run: func(task: string) -> result<string, string>;
}
`

/** A problem with a component's bytes, for a person. */
export class ComponentProblem extends Error {
  override readonly name = 'ComponentProblem'
}

const MAGIC = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00]
const IMPORT_SECTION = 10
const INSTANCE = 0x05

/** The component's imports. Throws a ComponentProblem for other bytes. */
export function componentImports(bytes: Uint8Array): readonly string[] {
  if (MAGIC.some((byte, index) => bytes[index] !== byte)) throw new ComponentProblem('this is not a WASM component')
  const names: string[] = []
  const reader = new Reader(bytes, MAGIC.length)
  while (!reader.ended) {
    const section = reader.byte()
    const end = reader.number() + reader.at
    if (end > bytes.length) throw new ComponentProblem('a section goes past the end of the file')
    if (section === IMPORT_SECTION) {
      for (let left = reader.number(); left > 0; left--) {
        const form = reader.byte()
        if (form > 1) throw new ComponentProblem('an import has a name of an unknown form')
        const name = reader.text()
        if (reader.byte() !== INSTANCE)
          throw new ComponentProblem(`the import ${JSON.stringify(name)} is not an interface`)
        reader.number()
        names.push(name)
      }
      if (reader.at !== end) throw new ComponentProblem('the import section is not as long as it says')
    }
    reader.at = end
  }
  return names
}

/** Imports beyond `cordon:agent`; a component with any does not load. */
export function foreignImports(names: readonly string[]): readonly string[] {
  return names.filter((name) => !AGENT_INTERFACES.includes(name))
}

class Reader {
  readonly #bytes: Uint8Array
  at: number

  constructor(bytes: Uint8Array, at: number) {
    this.#bytes = bytes
    this.at = at
  }

  get ended(): boolean {
    return this.at >= this.#bytes.length
  }

  byte(): number {
    const byte = this.#bytes[this.at++]
    if (byte === undefined) throw new ComponentProblem('the file ends too early')
    return byte
  }

  /** An unsigned LEB128 number of at most 32 bits. */
  number(): number {
    let value = 0
    for (let shift = 0; shift < 35; shift += 7) {
      const byte = this.byte()
      value += (byte & 0x7f) * 2 ** shift
      if (byte < 0x80) return value
    }
    throw new ComponentProblem('a number has no end')
  }

  text(): string {
    const end = this.number() + this.at
    if (end > this.#bytes.length) throw new ComponentProblem('a name goes past the end of the file')
    const text = new TextDecoder('utf-8', { fatal: true }).decode(this.#bytes.subarray(this.at, end))
    this.at = end
    return text
  }
}
