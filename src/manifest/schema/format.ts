/** Checks texts that are paths, hosts, commands, variables …: one check for each format. */

import { type PathPattern, parsePathPattern } from '../../files/path-pattern.ts'
import {
  type HostPattern,
  namesUnixSocket,
  needsSuffixes,
  parseDeniedPattern,
  parseHostPattern,
  parseUnixSocket,
} from '../../hosts/pattern.ts'
import type { SuffixLookup } from '../../hosts/suffix.ts'
import { type CommandPattern, parseCommandPattern } from '../../policy/command-pattern.ts'
import { readFlow } from '../../policy/labels.ts'
import { builtInTools, isBuiltInTool } from '../../policy/tool-kind.ts'
import type { PinsScript } from '../../shell/tables/interpreter-names.ts'
import type { Finding } from '../toml/problem.ts'
import { quoteShort } from '../toml/tree.ts'
import type { Format } from './key.ts'
import { nearest } from './suggest.ts'

/** The context of the checks. */
export interface FormatContext {
  readonly suffixes: SuffixLookup | null
  /** Names of the bundles there are; null leaves the names unchecked. */
  readonly bundles: readonly string[] | null
  /** Custom tools that the file declares under `[tools]`. */
  readonly customTools: ReadonlySet<string>
  /** Parsed texts, for later checks. */
  readonly commands: Map<string, CommandPattern>
  readonly paths: Map<string, PathPattern>
  readonly hosts: Map<string, HostPattern>
  /** Reports whether the arguments of an interpreter fix a script; null until a grant needs it. */
  readonly pinsScript: PinsScript | null
  /** Set if a check failed because the suffix list was not loaded. */
  missesSuffixes: boolean
  /** Set if a check failed because the tables of programs were not loaded. */
  missesPrograms: boolean
}

/** Globs and names are checked against any root: only their text matters. */
const ANYWHERE = { root: '/project', home: '/home/user' }
const VARIABLE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g
const ENV_NAME = /^[A-Za-z_][A-Za-z0-9_]{0,255}$/
const ENV_PATTERN = /^[A-Za-z_][A-Za-z0-9_]{0,255}\*?$/
const SECRET_SOURCE = /^(?:env:[A-Za-z_][A-Za-z0-9_]*|keychain:[^\p{C}]+|file:[^\p{C}]+)$/u
const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.:-]{0,99}$/
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'QUERY']

type Check = (text: string, context: FormatContext) => Finding | null

const CHECKS: Readonly<Record<Format, Check>> = {
  agent: (text) => (NAME.test(text) ? null : bad(text, 'is not the name of an agent', 'letters, digits, _ - . and :')),
  tool: toolFinding,
  flow: flowFinding,
  bundle: bundleFinding,
  path: pathFinding,
  basename: (text) => patternFinding('.', [text], null),
  directory: directoryFinding,
  host: hostFinding,
  'denied-host': (text, context) => hostFinding(text, context, parseDeniedPattern),
  'ca-file': (text) =>
    /^(?:~\/|\/)[^\p{C}]+$/u.test(text)
      ? null
      : bad(text, 'is not the path of a file', 'a path such as "~/corp-ca.pem"'),
  'parent-proxy': (text) =>
    /^(?:none|environment|https?:\/\/[^\s/]+\/?)$/.test(text)
      ? null
      : bad(text, 'is not a proxy', '"http://host:port", "https://host:port", "environment" or "none"'),
  'web-address': (text) =>
    /^https:\/\/[^\s/?#@]+(?:\/[^\s#]*)?$|^http:\/\/(?:127\.0\.0\.1|localhost|\[::1\])(?::\d+)?(?:\/[^\s#]*)?$/.test(
      text,
    ) && URL.canParse(text)
      ? null
      : bad(text, 'is not an address for this', '"https://host/path"; http only for this machine itself'),
  command: (text, context) => {
    const parsed = parseCommandPattern(text)
    if ('pattern' in parsed) {
      context.commands.set(text, parsed.pattern)
      return null
    }
    const suggestion = parsed.suggestion === undefined ? null : didYouMean(JSON.stringify(parsed.suggestion))
    return { code: 'bad-command', message: parsed.problem, found: quoteShort(text), suggestion }
  },
  env: (text) =>
    ENV_PATTERN.test(text) ? null : bad(text, 'is not the name of a variable', 'a name such as "CI" or "CARGO_*"'),
  'env-name': (text) =>
    ENV_NAME.test(text) ? null : bad(text, 'is not the name of a variable', 'a name such as "GH_TOKEN"'),
  header: (text) =>
    /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/.test(text)
      ? null
      : bad(text, 'is not the name of a header', 'a name such as "authorization"'),
  'header-source': (text) => {
    const header = readHeader(text)
    if (header !== null && !OWN_HEADERS.test(header.name)) return null
    const what = header === null ? 'is not a header with the source of its value' : 'is a header that Cordon sets'
    return bad(text, what, '"x-api-key: keychain:NAME" or "authorization: Bearer env:NAME"')
  },
  method: (text) => (METHODS.includes(text) ? null : unknownChoice(text, METHODS)),
  module: (text) =>
    /^[\p{ID_Start}_][\p{ID_Continue}]*(?:\.[\p{ID_Start}_][\p{ID_Continue}]*)*$/u.test(text)
      ? null
      : bad(text, 'is not a Python module', 'a name such as "os.path"'),
  'pass-name': (text) =>
    /^[A-Za-z0-9!#$%&'+.^_`|~[\]-]{1,100}\*?$/.test(text)
      ? null
      : bad(
          text,
          'is not the name of a header or parameter',
          'a name such as "cookie", or "x-session-*" for all that start so',
        ),
  query: (text) =>
    /^[A-Za-z0-9._~-]{1,100}$/.test(text)
      ? null
      : bad(text, 'is not the name of a query parameter', 'a name such as "key"'),
  'secret-source': (text) =>
    SECRET_SOURCE.test(text)
      ? null
      : bad(text, 'does not say where a secret is', '"env:NAME", "keychain:NAME" or "file:PATH"'),
  substring: (text) => (text.trim() === '' ? bad(text, 'would match every command', 'a part of a command') : null),
  'signing-key': (text) =>
    /^(?:SHA256:[A-Za-z0-9+/]{43}|[0-9A-F]{40})$/.test(text)
      ? null
      : bad(
          text,
          'does not name a key',
          'SHA256: and 43 letters (ssh-keygen -lf FILE.pub), or a keygrip (gpg -K --with-keygrip)',
        ),
  'url-path': (text) => {
    if (!text.startsWith('/')) return bad(text, 'is not a URL path', 'a glob that starts with "/", such as "/repos/**"')
    return patternFinding(text, null, null)
  },
}

/** Headers of the connection and of the protocol. */
const OWN_HEADERS =
  /^(?:host|connection|keep-alive|upgrade|te|trailer|expect|accept|content-.*|transfer-.*|proxy-.*|mcp-.*|last-event-id|origin)$/

/** `NAME: WORDS SOURCE`: the words go before the value. */
export function readHeader(
  text: string,
): { readonly name: string; readonly prefix: string; readonly source: string } | null {
  const [, name, prefix = '', source] =
    /^([\w!#$%&'*+.^`|~-]{1,100}): ?((?:[\x21-\x7e]+ )*?)((?:env|keychain|file):.*)$/.exec(text) ?? []
  if (name === undefined || source === undefined || !SECRET_SOURCE.test(source)) return null
  return { name: name.toLowerCase(), prefix, source }
}

/** Checks a text against its format; null if it is valid. */
export function checkFormat(format: Format, text: string, context: FormatContext): Finding | null {
  return CHECKS[format](text, context)
}

/** A value that is not among the choices. */
export function unknownChoice(text: string, values: readonly string[]): Finding {
  const near = nearest(text, values)
  return {
    code: 'bad-value',
    message: `${quoteShort(text)} is not one of the choices`,
    expected: values.map((value) => JSON.stringify(value)).join(', '),
    found: quoteShort(text),
    suggestion: near === null ? null : didYouMean(JSON.stringify(near)),
  }
}

export function didYouMean(what: string): string {
  return `did you mean ${what}?`
}

/** Replaces `${VAR}` in a host entry; null when a variable is unset or empty, since nothing is left to name a host. */
export function expandHost(
  text: string,
  env: Readonly<Record<string, string | undefined>>,
): { readonly text: string } | { readonly unset: string } {
  let unset: string | null = null
  const expanded = text.replace(VARIABLE, (_, name: string) => {
    const value = Object.hasOwn(env, name) ? (env[name] ?? '') : ''
    if (value === '') unset ??= name
    return value
  })
  return unset === null ? { text: expanded } : { unset }
}

function bad(text: string, what: string, expected: string): Finding {
  return { code: 'bad-value', message: `${quoteShort(text)} ${what}`, expected, found: quoteShort(text) }
}

function pathFinding(text: string, context: FormatContext): Finding | null {
  return patternFinding(text, null, context)
}

function patternFinding(text: string, files: readonly string[] | null, context: FormatContext | null): Finding | null {
  const parsed = parsePathPattern(text, { ...ANYWHERE, files })
  if ('problem' in parsed) return { code: 'bad-path', message: parsed.problem, found: quoteShort(files?.[0] ?? text) }
  context?.paths.set(text, parsed.pattern)
  return null
}

function directoryFinding(text: string): Finding | null {
  const problem = patternFinding(text, null, null)
  if (problem !== null) return problem
  if (!/[*?]/.test(text)) return null
  return {
    code: 'bad-path',
    message: 'a path to one place cannot hold wildcards',
    expected: 'a path without * and ?',
    found: quoteShort(text),
  }
}

function hostFinding(text: string, context: FormatContext, parse = parseHostPattern): Finding | null {
  // Values of variables are judged after expansion; here only variables may be open.
  const known = text.replace(VARIABLE, '')
  if (known !== text && !known.includes('${')) {
    context.missesSuffixes ||= context.suffixes === null
    return null
  }
  if (context.suffixes === null && needsSuffixes(text)) context.missesSuffixes = true
  // Whether the list is one for sockets is judged where its place is known.
  const parsed = namesUnixSocket(text) ? parseUnixSocket(text) : parse(text, context.suffixes)
  if ('pattern' in parsed) {
    context.hosts.set(text, parsed.pattern)
    return null
  }
  const suggestion = parsed.suggestion === undefined ? null : didYouMean(JSON.stringify(parsed.suggestion))
  return { code: 'bad-host', message: parsed.problem, found: quoteShort(text), suggestion }
}

function bundleFinding(text: string, context: FormatContext): Finding | null {
  if (!NAME.test(text)) return bad(text, 'is not the name of a bundle', 'a name that `cordon bundles` lists')
  if (context.bundles === null || context.bundles.includes(text)) return null
  const near = nearest(text, context.bundles)
  const suggestion = near === null ? 'run `cordon bundles` for the list' : didYouMean(JSON.stringify(near))
  return { code: 'bad-value', message: `there is no bundle ${quoteShort(text)}`, found: quoteShort(text), suggestion }
}

function flowFinding(text: string): Finding | null {
  if (readFlow(text) !== null) return null
  const message = `${quoteShort(text)} does not say from where to where data flows`
  return { code: 'bad-value', message, suggestion: 'write "LABEL -> RECEIVER", such as "outside -> *.github.com"' }
}

/** A level for a tool that does not exist protects nothing, so a near miss is an error and not a custom tool. */
function toolFinding(text: string, context: FormatContext): Finding | null {
  if (!NAME.test(text)) return bad(text, 'is not the name of a tool', 'letters, digits, _ - . and :')
  if (isBuiltInTool(text) || context.customTools.has(text)) return null
  const near = nearest(text, builtInTools)
  if (near === null) return null
  return {
    code: 'unknown-key',
    message: `there is no tool ${quoteShort(text)}`,
    found: quoteShort(text),
    suggestion: `${didYouMean(JSON.stringify(near))} (a custom tool of this name is declared with [tools.${text}])`,
  }
}
