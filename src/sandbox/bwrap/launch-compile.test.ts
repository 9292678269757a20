import { expect, test } from 'vitest'
import { SandboxFault } from '../backend.ts'
import type { Bind, SandboxLayout } from '../layout.ts'
import { type BwrapSetup, compileLayout } from './launch-compile.ts'

const layout = (binds: readonly Bind[]): SandboxLayout => ({
  hostname: 'localhost',
  baseline: 'system',
  binds,
  links: [],
  standIns: [],
  scratch: ['/tmp'],
  emptied: [],
  skipped: [],
  scratchBytes: 1,
})
const machine: BwrapSetup = {
  architecture: 'x64',
  layer: {
    title: 'bubblewrap',
    program: '/home/ada/work/bin/bwrap',
    install: 'apt install bubblewrap',
    words: () => ['/home/ada/work/bin/bwrap'],
  },
  init: { path: '/opt/cordon-init', fd: 4 },
  nothing: 5,
  root: 6,
  cgroups: () => null,
  numbered: false,
}

test.each([
  ['/home/ada/work', 'read-write', true],
  ['/home/ada/work/bin/bwrap', 'read-write', true],
  ['/home/ada/work', 'read-only', false],
  ['/home/ada/other', 'read-write', false],
] as const)('a bubblewrap that commands may write is not started: %s, %s', (path, mode, refused) => {
  const compile = () => compileLayout(layout([{ path, mode }]), false, machine, null)
  if (refused) expect(compile).toThrow(SandboxFault)
  else expect(compile()[0]).toBe(machine.layer.program)
})
