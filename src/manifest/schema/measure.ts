/** Sizes and times as people write them. */

const SIZE_UNITS: Readonly<Record<string, number>> = {
  '': 1,
  b: 1,
  k: 1024,
  kib: 1024,
  kb: 1000,
  m: 1024 ** 2,
  mib: 1024 ** 2,
  mb: 1000 ** 2,
  g: 1024 ** 3,
  gib: 1024 ** 3,
  gb: 1000 ** 3,
  t: 1024 ** 4,
  tib: 1024 ** 4,
  tb: 1000 ** 4,
}

/** Bytes of "512 MiB"; null when it is not a size. */
export function parseSize(text: string): number | null {
  const match = /^([0-9]{1,15}(?:\.[0-9]{1,6})?) ?([A-Za-z]{0,3})$/.exec(text)
  const unit = match === null ? undefined : SIZE_UNITS[match[2]!.toLowerCase()]
  return unit === undefined ? null : Math.floor(Number(match![1]) * unit)
}

const TIME_UNITS: Readonly<Record<string, number>> = { ms: 0.001, s: 1, m: 60, h: 3600, d: 86_400 }

/** Seconds of "90s" or "1h 30m"; null when it is not a time. */
export function parseSeconds(text: string): number | null {
  if (text.length > 40 || !/^[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d)(?: ?[0-9]+(?:\.[0-9]+)?(?:ms|s|m|h|d))*$/.test(text)) {
    return null
  }
  let seconds = 0
  for (const [, amount, unit] of text.matchAll(/([0-9.]+)(ms|s|m|h|d)/g)) seconds += Number(amount) * TIME_UNITS[unit!]!
  return seconds
}
