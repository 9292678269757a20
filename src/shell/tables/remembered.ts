/** Lookups by name that keep their answers: for one command a table need not be indexed, for thousands it is looked through once a name. */

/** What hostile text asks for is not kept for ever. */
const MOST = 1000

/** The lookup, asked once for each name. */
export function remembered<T>(find: (name: string) => T): (name: string) => T {
  const known = new Map<string, T>()
  return (name) => {
    if (known.has(name)) return known.get(name)!
    if (known.size >= MOST) known.clear()
    const found = find(name)
    known.set(name, found)
    return found
  }
}
