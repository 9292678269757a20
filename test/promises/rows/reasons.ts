/** Why a promise is not about a surface, if many share it. */

import { type Cell, no, type SurfaceName } from '../promise.ts'

export const GATEWAY: Cell = no('It passes on calls of other servers, and has no commands and files.')
export const NO_OWN_TOOLS: Cell = no(
  'Its tools are those of other servers: Cordon’s own file, web and custom tools are not behind it.',
)
export const RUNS_NOTHING: Cell = no('It decides and runs nothing.')
export const TYPED: Cell = no('What a person types is theirs: levels, modes and questions are about agents.')
export const NO_WEB_TOOL: Cell = no('It is about the web tools; a typed command has the hosts of commands.')
export const OWN_TOOLS: Cell = no('It is about Cordon’s own file tools, and the host has its own.')
export const NO_TOOLS: Cell = no('It runs a command, and has no tools.')
export const NO_MODEL: Cell = no('It has no model.')
export const ONE_CALL: Cell = no('It judges one call: no session could change.')

/** Of commands: neither a gateway nor what only decides runs one. */
export const COMMANDS_RUN: Partial<Record<SurfaceName, Cell>> = {
  gateway: GATEWAY,
  check: RUNS_NOTHING,
  page: RUNS_NOTHING,
}
