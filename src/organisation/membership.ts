/** The fleet of this machine, for surfaces. */

export { type FleetSettings, readFleetSettings } from '../fleet/settings.ts'
