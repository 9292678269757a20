/** The quarantine, for surfaces: what commands left that would run code on this machine. */

export {
  listQuarantine,
  type Quarantined,
  readable,
  restoreQuarantined,
} from '../sandbox/quarantine/list.ts'
