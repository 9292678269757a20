/** A host's settings would prevent its hooks from running. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
