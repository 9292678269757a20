/** The settings of a host are not as they must be for its hooks to run. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError'
}
