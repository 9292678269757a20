/** What a command that starts often has to load before it can do anything, by the static imports of its sources. */

import { readFileSync } from 'node:fs'
import { posix } from 'node:path'
import { describe, expect, it } from 'vitest'

/** The imports that are loaded with a file: neither types nor `import()`. */
function loadedWith(file: string): readonly string[] {
  const text = readFileSync(file, 'utf8')
  const named = text.matchAll(/^(?:import|export)\b(?!\s+type\b)([^'"`;]*?)from\s*['"](\.[^'"]+)['"]/gm)
  return [...named]
    .filter(([, names = '']) => {
      const each = names
        .replace(/[{}]/g, '')
        .split(',')
        .map((name) => name.trim())
        .filter(Boolean)
      return !names.includes('{') || !each.every((name) => name.startsWith('type '))
    })
    .map(([, , target = '']) => posix.join(posix.dirname(file), target))
}

function start(file: string): ReadonlyMap<string, number> {
  const sizes = new Map<string, number>()
  const load = (name: string): void => {
    if (sizes.has(name)) return
    sizes.set(name, readFileSync(name, 'utf8').length)
    loadedWith(name).forEach(load)
  }
  load(file)
  return sizes
}

/** What none of these needs at once: other backends, the network, models, interpreters, fleets, undo of earlier calls, the page. */
const LATE =
  /^src\/(?:sandbox\/(?:oci|experimental\/seatbelt)\/(?!place)|egress\/(?:protocol|tls|credentials|proxy|broker)|providers|code|fleet|organisation|learn|chat|report|session\/code|agents\/(?:mcp|import)\/|surfaces\/(?:page|chat|acp|mcp)|scan\/injection|audit\/verify|shell\/walk\/analyze)/

describe.each([
  // The library: opening a project loads the rest.
  { file: 'src/index.ts', most: 214 },
  // Thousands of characters of source; raise one only with a measured reason.
  // 14 are the options of programs that hold a secret: the best of 25 checks took 45 ms of processor time without, 46 with.
  // 8 here, of a hook and of the library are more forms of secrets: the best of 25 starts took 28.2 ms of processor time without,
  // 26.7 with; of 25 checks 57.6 and 56.7.
  // 2 are the loaders in the table of commands. 1 is the trace of steps.
  // 2 here and of the library are again more forms of secrets: the best of 15 checks took 45.4 ms of processor time without, 46.4 with.
  { file: 'src/surfaces/cli/start/main.ts', most: 146 },
  // 4 here and of a hook are the one way to add to a policy. 2 here and of a run are charsets, too little to be measured.
  // 3 say why a policy is not open. 6 judge where git takes its settings from: the file is read once a command that names git.
  // 4 are what was answered before, and whether the root is a project.
  // 2 here and of a hook are which denials apply when a program starts.
  // 14 here, of a hook and of a run are links of the home, names of secrets and what undo compares: nothing that is measured.
  // 3 say what a reviewer may answer, and are its settings: too little to be measured.
  // 8 are packages, reviewers and rules of MCP servers in the schema: the best of 15 cold checks took 53.5 ms without, 56.1 with;
  // of 15 cold runs 76.0 without, 74.3 with.
  // 11 here, 22 of a hook and 8 of a run are rules of MCP servers and the programs that hosts belong to: the best of 15 cold
  // checks took 42.1 ms of processor time without, 45.4 with; of hooks 32.8 and 35.4, of runs 73.5 and 71.1.
  // 1 here, of a hook and of a run are scripts of skills as they start, and readings of MCP arguments: too little to be measured.
  // 1 here are programs that detach, and 1 of a run the folders that installers move: too little to be measured.
  { file: 'src/surfaces/cli/commands/policy/check.ts', most: 639 },
  // 20 of them are what hosts say of their installation, which no hook runs: 40 cold ones of each build took 67.2 ms of processor time in the median without, 67.4 with.
  // 3 are what projects bring for them. 13 are where their own rules are: the best of thirty cold ones took 83.3 ms without, 81.6 with; medians on a busy machine 103.0 and 107.1.
  // 4 are the variables of an installation, and what switches hooks off: the best of 40 cold ones took 68.7 ms without, 69.0 with.
  // 2 here and of a run are [review] in the schema, too little to be measured.
  // 5 here and 4 of a run are the tools whose hosts are for them alone: not timed, the machine was too busy.
  { file: 'src/surfaces/cli/commands/machine/hook.ts', most: 924 },
  // 66 are the redactor for what undo stores, which main.ts loads in any case. 20 make a confinement, which was several files that
  // were loaded late: the best of 20 cold ones took 56 ms of processor time before, and 57 with it.
  // 17 are saved answers, worktrees and paths that a yes opened: medians of 16 on a busy machine were 85 and 86 ms.
  // 11 are the table of program starts, and whether they ask; what judges them is loaded where one can be refused.
  // 2 judge where git takes its settings from, as in a check.
  // 2 are the lock on saved grants, and entries of theirs that cannot be read: too little to be measured.
  // 6 are the ports of this machine that a command names, read once a command that failed.
  // 2 are the rows of setup and uninstall in the table of commands. 8 find programs that a person installed below the home.
  { file: 'src/surfaces/cli/commands/run/run.ts', most: 1115 },
])('$file', ({ file, most }) => {
  const loaded = start(file)
  it('loads late what it rarely needs', () => {
    expect(loaded.size).toBeGreaterThan(10)
    expect([...loaded.keys()].filter((name) => LATE.test(name))).toEqual([])
  })
  it(`loads less than ${most} thousand characters`, () => {
    const total = [...loaded.values()].reduce((sum, size) => sum + size, 0)
    expect(total / 1000).toBeLessThan(most)
  })
})
