/** The gateway for MCP servers is its own process: this very program, with other words. */

/** `cordon mcp wrap` for a project. */
export function gatewayCommand(root: string): readonly string[] {
  return [process.execPath, process.argv[1]!, 'mcp', 'wrap', '--root', root]
}
