/** Who lays a layout out before cordon-init furnishes it: bubblewrap, or a container engine. */

import type { SandboxLayout } from '../layout.ts'

export interface SandboxLayer {
  /** What people call it. */
  readonly title: string
  /** The program; never one that a command could write. */
  readonly program: string
  /** Its sandboxes may be prepared before there is a command: the init takes the command's streams with its orders. */
  readonly ahead?: true
  /** There are not namespaces: the init runs beside its parent, and sees to everything itself (native/bare/). */
  readonly bare?: true
  /** How it is installed. */
  readonly install: string
  /** What it takes by itself of a control group; absent: next to nothing. */
  readonly own?: { readonly processes: number; readonly memoryBytes: number }
  /** The words that join control groups and go on with what follows; absent: the init's own, which join while the layout is made. */
  enter?(procs: readonly string[]): readonly [program: string, ...args: string[]]
  /** The words that make a layout and start the init in it. `channel`: the init has sockets to hand out. Throws a RangeError for one that it cannot make. */
  words(layout: SandboxLayout, channel: boolean): readonly [program: string, ...args: string[]]
}
