/** The facts about a command text: the one entry to this folder. */

import type { ShellAnalysis, ShellContext } from '../facts.ts'
import { type ParsedText, parseText } from '../read/parse.ts'
import { dependsOnCharset, refuse, UnreadableText } from '../read/unreadable-text.ts'
import { Scope } from '../words/scope.ts'
import { Output, type Start } from './output.ts'
import { Walk } from './walk.ts'

/** Everything that can be known about a command before bash runs it, or why it is refused. Pure. */
export function analyze(source: string, context: ShellContext): ShellAnalysis {
  const parsed = parseText(source)
  if ('code' in parsed) return { rejection: parsed }
  try {
    const variables = context.variables ?? {}
    const start: Start = {
      home: context.home,
      roots: context.roots ?? [context.cwd],
      variables,
      inFunctions: variables,
      functionsVanish: false,
      staysPut: false,
    }
    let [output, moved] = walk(source, parsed, context, start)
    // A function body, a hook or a loop may run after the text has changed the state of the start.
    const overwrites = output.assumes && output.overwritten.size > 0
    const functionsVanish =
      output.functions.size > 0 && [...output.removed].some((name) => name === '*' || output.functions.has(name))
    const staysPut = (output.functions.size > 0 || output.hooked) && !moved
    if (overwrites || functionsVanish || staysPut) {
      const changed = { ...start, inFunctions: overwrites ? {} : variables, functionsVanish }
      ;[output, moved] = walk(source, parsed, context, { ...changed, staysPut })
      // Known directories must not have shown a way to leave them.
      if (staysPut && moved) [output] = walk(source, parsed, context, changed)
    }
    if (context.foreignCharset || output.foreignCharset) {
      // Texts that it passes to programs count as well.
      const texts = [source, context.cwd, context.home, ...Object.values(variables)]
      if (texts.some(dependsOnCharset)) return OTHER_CHARSET
    }
    return {
      facts: {
        source,
        commands: output.commands,
        syntax: output.syntax.length === 0 ? parsed.syntax : [...parsed.syntax, ...output.syntax],
        redirects: output.redirects,
        hazards: [...parsed.hazards, ...output.hazards],
        defines: [...output.defines],
        needsSyntaxCheck: parsed.needsSyntaxCheck,
      },
    }
  } catch (error) {
    if (error instanceof UnreadableText) return { rejection: error.rejection }
    if (error instanceof RangeError) {
      return {
        rejection: { code: 'too-complex', message: 'the command is nested too deeply (position 0)', position: 0 },
      }
    }
    throw error
  }
}

const OTHER_CHARSET: ShellAnalysis = {
  rejection: refuse(
    'unsupported-syntax',
    'the text has characters that bash reads differently in this locale; set LC_ALL, LC_CTYPE and LANG to C or a UTF-8 locale',
    0,
  ),
}

/** The output of a walk, and whether a shell changed its directory anywhere in it. */
function walk(
  source: string,
  parsed: ParsedText,
  context: ShellContext,
  start: Start,
): readonly [output: Output, moved: boolean] {
  const output = new Output()
  const scope = new Scope(context.cwd, start.variables)
  const frame = { via: [], parent: null, background: false, stdin: { kind: 'none' }, within: null, depth: 0 } as const
  new Walk(source, scope, frame, start, output).script(parsed.script)
  return [output, scope.journey.moved]
}
