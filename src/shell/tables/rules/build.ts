/** make, cmake, compilers, go, cargo, gradle and maven: variables and flags that name programs. */

import { environmentHazard, namesProgram } from '../environment.ts'
import { isRooted } from '../places.ts'
import { has, type Rule, type Use, usesOf } from '../use.ts'

const releasing = /(^|[:_./-])(deploy|publish|release|promote|rollout)([:_./-]|$)/

/** A script or target whose name means a remote change. */
export function reportReleasing(use: Use, name: string | null | undefined): void {
  if (name != null && releasing.test(name))
    use.setEffect('remote-write', `\`${name}\` says that it deploys or publishes`)
}

const make: Rule = (use) => {
  for (const arg of use.operands) {
    const text = arg.text ?? arg.prefix
    const match = /^([^\s:+?!=]+)\s*(?:[:+?!]{0,3}=)(.*)$/s.exec(text)
    if (match === null) {
      if (!has(use, '-n', '--dry-run', '--just-print', '--recon', '-q', '--question')) reportReleasing(use, arg.text)
      continue
    }
    const [, name = '', value = ''] = match
    const risky =
      namesProgram(name) ||
      /^\.?SHELL(FLAGS)?$|^MAKE|^(RM|MKDIR|CP|MV|LN|INSTALL|SED|GREP|AWK|FIND|GO|NPM|NODE|CARGO|GIT|DOCKER|CURL|TAR)$/.test(
        name,
      )
    if (risky || arg.text === null || /[`;|&<>\n]|\$[({]|!/.test(value))
      use.found.hazard(
        'option-runs-program',
        `\`${use.program} ${name}=…\` changes a command of the makefile`,
        arg.word.span,
      )
    const installs =
      /^(DESTDIR|PREFIX|prefix)$/.test(name) && use.operands.some(({ text }) => /install/.test(text ?? ''))
    if (isRooted(value)) use.found.file(value, installs ? 'write' : 'read', arg.word.span)
  }
  for (const option of usesOf(use, '-f'))
    if (/^(?:-|\/(?:dev|proc)\/.*)$/.test(option.value?.text ?? ''))
      use.found.hazard('interpreter-code', `\`${use.program} -f -\` runs the rules that it reads`, option.span)
}

/** `./configure CC=./x`: programs of the build, as with make. */
const configure: Rule = (use) => {
  for (const arg of use.operands) {
    const [, name = '', value = ''] = /^([A-Za-z_]\w*)=(.*)$/s.exec(arg.text ?? '') ?? []
    if (namesProgram(name) && /[/\s;|&$`]/.test(value))
      use.found.hazard('option-runs-program', `\`${name}=…\` names a program of the build`, arg.word.span)
  }
}

const cmakeVariable =
  /(_LAUNCHER|_COMPILER|_COMMAND|_PROGRAM|_EXECUTABLE|_INCLUDE(_BEFORE|_AFTER)?|_INCLUDES|MODULE_PATH|TOOLCHAIN_FILE|_EMULATOR|_LINKER|CMAKE_AR|CMAKE_RANLIB|RULE_MESSAGES|_WRAPPER|_FLAGS)(:|=|$)/

/** Commands of `cmake -E` that only look or touch files by name. */
const quietTools =
  /^(echo|echo_append|cat|sleep|true|false|capabilities|environment|compare_files|sha\d+sum|md5sum|make_directory|touch|touch_nocreate|help)$/

const cmake: Rule = (use) => {
  for (const option of usesOf(use, '-D')) {
    const text = option.value?.text
    if (
      text == null ||
      cmakeVariable.test(text.split('=')[0] ?? '') ||
      (text.includes('=') && cmakeVariable.test(`${text.split('=')[0]}=`))
    )
      use.found.hazard('option-runs-program', `\`cmake -D ${text ?? '…'}\` can name a program to run`, option.span)
  }
  const handed = use.operands.slice(use.beforeDashes)
  if (handed.length > 0) make({ ...use, operands: handed })
  const tool = use.options.find((option) => option.name === '-E')
  if (tool === undefined) return
  const name = use.operands[0]?.text
  if (name == null || !quietTools.test(name))
    use.found.hazard('option-runs-program', `\`cmake -E ${name ?? '…'}\` runs a command or changes files`, tool.span)
  for (const arg of use.operands.slice(1))
    use.found.path(arg, name === 'cat' || name === 'compare_files' ? 'read' : 'write')
}

/** Compiler flags: a prefix, its effect, and whether the value can be the next word. */
const compilerFlags: readonly (readonly [
  prefix: string,
  kind: 'run' | 'load' | 'read' | 'write',
  separate: boolean,
])[] = [
  ['-wrapper', 'run', true],
  ['-fplugin=', 'load', false],
  ['-fplugin', 'load', true],
  ['-fpass-plugin=', 'load', false],
  ['-specs=', 'load', false],
  ['--specs=', 'load', false],
  ['-specs', 'load', true],
  ['-B', 'load', true],
  ['--sysroot=', 'read', false],
  ['--config=', 'load', false],
  ['--config', 'load', true],
  ['-load', 'load', true],
  ['-fuse-ld=/', 'run', false],
  ['-fuse-ld=.', 'run', false],
  ['-Xlinker', 'load', true],
  ['-Xclang', 'load', true],
  ['-Xassembler', 'load', true],
  ['-Wp,-MD,', 'write', false],
  ['-Wp,-MMD,', 'write', false],
  ['-Wl,-Map=', 'write', false],
  ['-Wl,-Map,', 'write', false],
  ['-Wl,-o,', 'write', false],
  ['-fdump-tree-all=', 'write', false],
  ['-ftime-trace=', 'write', false],
  ['-fprofile-dir=', 'write', false],
  ['--ld-path=', 'run', false],
  ['--gcc-toolchain=', 'run', false],
  ['-ccc-gcc-name', 'run', true],
  ['-Wl,-plugin', 'load', false],
  ['-Wl,--plugin', 'load', false],
  ['-Wl,-fini', 'load', false],
  ['-Wl,--wrap', 'load', false],
  ['-no-canonical-prefixes', 'load', false],
  ['-isystem', 'read', true],
  ['-iquote', 'read', true],
  ['-include', 'read', true],
  ['-imacros', 'read', true],
  ['-I', 'read', true],
  ['-L', 'read', true],
  ['-T', 'read', true],
  ['-MF', 'write', true],
  ['-dumpdir', 'write', true],
  ['-o', 'write', true],
]

const compiler: Rule = (use) => {
  use.args.forEach((arg, index) => {
    const text = arg.text ?? arg.prefix
    const flag = compilerFlags.find(
      ([prefix, , separate]) =>
        text === prefix ||
        (text.startsWith(prefix) && (!separate || /^-[BILTo]$/.test(prefix) || prefix.startsWith('-i'))),
    )
    if (flag !== undefined) {
      const [prefix, kind] = flag
      const value = text === prefix ? use.args[index + 1]?.text : text.slice(prefix.length)
      if (kind === 'run' || kind === 'load')
        use.found.hazard(
          kind === 'run' ? 'option-runs-program' : 'option-loads-code',
          `\`${use.program} ${prefix}\` ${kind === 'run' ? 'runs another program' : 'loads code or programs from elsewhere'}`,
          arg.word.span,
        )
      else if (value != null && value !== '') use.found.file(value, kind, arg.word.span)
      else if (text === prefix && use.args[index + 1] !== undefined && value == null)
        use.found.path(use.args[index + 1] ?? arg, kind)
    } else if (text.startsWith('@')) {
      use.found.hazard('option-reads-list', `\`${use.program} @file\` takes options from a file`, arg.word.span)
      use.found.file(text.slice(1), 'read', arg.word.span)
    } else if (!text.startsWith('-') && use.args[index - 1]?.text !== '-o') use.found.loose(arg)
    else if (arg.text === null && text === '')
      use.found.hazard(
        'dynamic-argument',
        `\`${arg.word.text}\` is not known beforehand and could be an option of \`${use.program}\``,
        arg.word.span,
      )
  })
}

const goFlags: Rule = (use) => {
  for (const option of usesOf(use, '-ldflags', '-gcflags', '-asmflags', '-gccgoflags')) {
    const text = option.value?.text
    if (text == null || /-extld|-linkmode[= ]external|-extar|-toolexec|-fplugin|-wrapper|-B\b/.test(text))
      use.found.hazard('option-runs-program', `\`go ${option.name}\` can name another linker`, option.span)
  }
  if (use.words[1] === 'run' || use.words[1] === 'install')
    for (const arg of use.operands.slice(0, 1))
      if (/@/.test(arg.text ?? '')) use.setEffect('remote-read', 'downloads a program')
}

const rustFlag =
  /^(-C|--codegen[= ]?)?\s*(linker|link-arg|link-args|linker-flavor|profile-use)\b|^-Z|^-C(linker|link-arg)/

const rustc: Rule = (use) => {
  const afterDashes = /^rust(c|doc)$/.test(use.program) ? use.args : use.operands.slice(use.beforeDashes)
  afterDashes.forEach((arg, index) => {
    const text = arg.text ?? arg.prefix
    const joined =
      text === '-C' || text === '--codegen'
        ? `-C${use.args[use.args.indexOf(arg) + 1]?.text ?? afterDashes[index + 1]?.text ?? 'linker'}`
        : text
    if (rustFlag.test(joined))
      use.found.hazard('option-runs-program', `\`rustc ${joined}\` can name another linker`, arg.word.span)
    const out = /^(?:--emit=[\w-]+=|--out-dir=|-o)(.+)$/.exec(text)?.[1]
    if (out !== undefined) use.found.file(out, 'write', arg.word.span)
    else if (/^(?:-o|--out-dir)$/.test(text) && afterDashes[index + 1]?.text != null)
      use.found.file(afterDashes[index + 1]?.text ?? '', 'write', arg.word.span)
    if (text.startsWith('@'))
      use.found.hazard('option-reads-list', '`rustc @file` takes options from a file', arg.word.span)
  })
}

const jvmProperty =
  /^(exec\.|maven\.ext|argLine|jvm|org\.gradle\.(jvmargs|java\.home)|java\.home|surefire|rewrite\.|systemProp|maven\.compiler\.executable|.*[Ee]xecutable$|.*\.command$)/
const runningGoal = /(^|:)(exec|antrun|groovy|jython|exec-maven-plugin|maven-antrun-plugin)(:|@|$)|:exec$|:java$/

const jvm: Rule = (use) => {
  for (const option of usesOf(use, '-D', '-P')) {
    const text = option.value?.text
    if (option.name === '-D' && (text == null || jvmProperty.test(text)))
      use.found.hazard(
        'option-runs-program',
        `\`${use.program} -D${text ?? '…'}\` can name a program or flags of the virtual machine`,
        option.span,
      )
  }
  for (const arg of use.operands) {
    if (runningGoal.test(arg.text ?? ''))
      use.found.hazard('option-runs-program', `\`${arg.text}\` runs a program`, arg.word.span)
    if (/^(deploy|site-deploy|release:.*|publish.*|uploadArchives|.*:publish.*|.*:deploy)$/.test(arg.text ?? ''))
      use.setEffect('remote-write', 'publishes artifacts')
  }
}

const targets: Rule = (use) => {
  for (const arg of use.operands.slice(0, 1)) reportReleasing(use, arg.text)
}

/** `javac -J-javaagent:…`, `msbuild -logger:X,y.dll`: options that load code. */
const gluedLoaders: Rule = (use) => {
  for (const arg of use.args)
    if (arg.text?.startsWith('@') && /^(?:javac|javadoc|jar)$/.test(use.program))
      use.found.hazard('option-reads-list', `\`${use.program} @file\` takes options from a file`, arg.word.span)
    else if (/^-J-|^[-/](?:logger|l|distributedlogger|dl):.*\.dll/i.test(arg.text ?? ''))
      use.found.hazard('option-loads-code', `\`${arg.text?.slice(0, 40)}\` loads code`, arg.word.span)
    else {
      const file = /LogFileName=([^;]+)/i.exec(arg.text ?? '')?.[1]
      if (file !== undefined) use.found.file(file, 'write', arg.word.span)
    }
}

export const buildRules: Readonly<Record<string, Rule>> = {
  'make, gmake, bmake': make,
  configure,
  'bazel, bazelisk': (use) => {
    for (const option of usesOf(use, '--action_env', '--host_action_env', '--repo_env', '--test_env'))
      if (
        environmentHazard((option.value?.text ?? 'PATH').split('=')[0] ?? '') !== null &&
        option.value?.text?.includes('=')
      )
        use.found.hazard(
          'env-changes-program',
          `\`${use.program} ${option.name}\` changes what programs load`,
          option.span,
        )
  },
  objcopy: (use) => {
    for (const option of usesOf(use, '--dump-section')) {
      const file = option.value?.text?.split('=')[1]
      if (file !== undefined) use.found.file(file, 'write', option.span)
    }
  },
  cmake,
  'gcc, g++, cc, c++, clang, clang++, cpp, tcc, icc, gfortran, gccgo, nvcc': compiler,
  'go build, go test, go install, go run, go vet, go list, go get, go generate': goFlags,
  'rustc, rustdoc, cargo rustc, cargo rustdoc': rustc,
  'gradle, gradlew, mvn, mvnw, mvnd': jvm,
  'javac, javadoc, jar, dotnet, msbuild': gluedLoaders,
  'just, task, go-task, rake': targets,
  'mise, rtx': (use) => {
    if (use.operands[0]?.text === 'run') reportReleasing(use, use.operands[1]?.text)
  },
}
