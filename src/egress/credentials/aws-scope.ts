/**
 * Checks that the scope of an AWS signature matches its host. A host that sees a signature for
 * another service could use it there. PURE.
 */

/** The endings of AWS hosts. */
const SUFFIX = /\.(?:amazonaws\.com(?:\.cn)?|api\.aws|api\.amazonwebservices\.com\.cn|on\.aws)$/
const REGION = /^(?:[a-z]{2}|us-gov|us-iso[a-z]?|eu-isoe|eusc-[a-z]{2})(?:-[a-z]+)+-\d{1,2}$/
/** Labels of access routes, not services. */
const WAYS: ReadonlySet<string> = new Set(['dualstack', 'vpce', 'fips'])
/** Services with other host labels, as in botocore. */
const OTHER_LABELS: Readonly<Record<string, readonly string[]>> = {
  'aws-marketplace': ['marketplace'],
  awsssoportal: ['sso'],
  connect: ['contact-lens'],
  dynamodb: ['ddb'],
  'execute-api': ['connect'],
  'iot-jobs-data': ['iot'],
  iotdata: ['iot'],
  iotdevicegateway: ['iot'],
  iotsecuredtunneling: ['iot'],
  mgh: ['migrationhub-config'],
  mobiletargeting: ['pinpoint'],
  ses: ['email', 'mail-manager'],
  'sso-oauth': ['oidc'],
}

/**
 * Why a signature for this service and region must not go to this host; null for hosts outside AWS.
 */
export function scopeProblem(host: string, region: string, service: string): string | null {
  if (!SUFFIX.test(host)) return null
  const labels = host.replace(SUFFIX, '').split('.')
  // The last label of a kind belongs to the service; earlier ones may be chosen by anyone, as in a
  // bucket name.
  const placed = labels.findLast((label) => REGION.test(label))
  if (placed !== undefined && placed !== region) return `is signed for the region ${region}, and its host is not`
  const named = labels.filter((label) => !REGION.test(label) && !WAYS.has(label)).at(-1) ?? ''
  return isLabelOf(named, service.toLowerCase()) ? null : `is signed for the service ${service}, and its host is not`
}

function isLabelOf(label: string, service: string): boolean {
  if (OTHER_LABELS[service]?.some((other) => label === other || label.split('-').includes(other))) return true
  if (label.split('-').includes(service) || label.replaceAll('-', '') === service) return true
  return label.startsWith(service) && /^(?:-.*|v?\d+|data|query|realtime|domain)?$/.test(label.slice(service.length))
}
