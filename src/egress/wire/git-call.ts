/**
 * The ssh request of git, as the replacement for ssh inside forwards it: user, service, repository.
 * PURE.
 */

export interface GitCall {
  readonly user: string | null
  readonly service: 'upload-pack' | 'receive-pack'
  readonly path: string
  /** GIT_PROTOCOL; null for version 0. */
  readonly protocol: string | null
}

/** The header of a CONNECT for a git service. */
export const GIT_HEADER = 'cordon-git'

/**
 * Base64 of user, protocol and command, a line each. Accepts only the two repository services, and
 * a path that every shell reads alike.
 */
export function readGitCall(header: string): GitCall | { readonly problem: string } {
  if (!/^[A-Za-z0-9+/]+={0,2}$/.test(header)) return { problem: 'the git service is not in base64' }
  const [user, protocol, command, ...more] = Buffer.from(header, 'base64').toString('utf8').split('\n')
  if (command === undefined || more.length > 0) return { problem: 'a git service is three lines' }
  if (!/^(?:[A-Za-z0-9_][A-Za-z0-9_.-]{0,63})?$/.test(user!)) return { problem: 'the user of ssh cannot be read' }
  if (!/^(?:version=[0-9])?$/.test(protocol!)) return { problem: 'GIT_PROTOCOL cannot be read' }
  const [, service, path] = /^git[- ](upload-pack|receive-pack) '([^'!\\\p{C}]+)'$/u.exec(command) ?? []
  if (service === undefined || path === undefined || path.startsWith('-')) {
    return { problem: 'only git-upload-pack and git-receive-pack of one repository are carried' }
  }
  return { user: user || null, protocol: protocol || null, service: service as GitCall['service'], path }
}
