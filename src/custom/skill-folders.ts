/** Where a project keeps the skills it brings along. */

/** The folders of a project's skills. */
export function skillFolders(root: string): readonly string[] {
  return [`${root}/.cordon/skills`, `${root}/.agents/skills`]
}
