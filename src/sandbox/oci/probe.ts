/** Probes an engine by running it: what it shows, what it lets out, and whether its memory limit holds. */

import { messageOf } from '../../system/fault.ts'
import type { LimitReport } from '../limits.ts'
import type { ContainerEngine, ContainerLimits, ContainerRun, EngineSupport } from './engine.ts'

/** Each line that it prints is something that should not be so. */
const ATTACKS = `
case $(grep -h CapEff /proc/self/status) in *[1-9a-f]*) case $(grep -h CapEff /proc/self/status | tr -d 'CapEf:[:space:]0') in '') ;; *) echo 'has capabilities' ;; esac ;; esac
if touch /usr/cordon-probe 2>/dev/null; then echo 'can write /usr'; fi
if [ -r /etc/shadow ]; then echo 'can read /etc/shadow'; fi
if grep -hv -e '|' -e '^ *lo:' /proc/net/dev 2>/dev/null | grep -q ':' ; then echo 'has a network device'; fi
if (exec 3<>/dev/tcp/127.0.0.1/22) 2>/dev/null; then echo 'reaches the host'; fi
if [ "$(cat asked)" != in ]; then echo 'is not given its files'; fi
echo out >given
echo probed
`

/** tail keeps all of a line without an end. */
const HOG = 'head -c $1 /dev/zero | tail >/dev/null; exit $?'

const PROBE_MS = 20_000
/** Less than what is asked for, so that it takes little time to go beyond it. */
const PROBE_MEMORY: number = 96 * 1024 ** 2

function probeRun(code: string, words: readonly string[], limits: ContainerLimits): ContainerRun {
  return {
    argv: ['/bin/bash', '{in}/probe', ...words],
    source: { name: 'probe', bytes: Buffer.from(code) },
    files: [{ name: 'asked', bytes: Buffer.from('in') }],
    stdin: new Uint8Array(),
    outputs: ['given'],
    limits: { ...limits, timeoutMs: PROBE_MS },
    image: null,
    signal: new AbortController().signal,
  }
}

/** What holds of an engine here. `promised` says how each limit should be held; the memory limit is tried. */
export async function probeEngine(
  engine: Pick<ContainerEngine, 'name' | 'run'>,
  limits: ContainerLimits,
  wall: string,
  promised: readonly LimitReport[],
): Promise<EngineSupport> {
  const { name } = engine
  try {
    const seen = await engine.run(probeRun(ATTACKS, [], limits))
    const lines = seen.stdout.bytes.toString('utf8').trim().split('\n')
    const given = seen.files[0] && Buffer.from(seen.files[0].bytes).toString('utf8')
    if (seen.exitCode !== 0 || lines.at(-1) !== 'probed') {
      return {
        works: false,
        why: `${name} runs nothing here: ${seen.stderr.bytes.toString('utf8').trim().slice(0, 300)}`,
      }
    }
    if (lines.length > 1)
      return { works: false, why: `${name} does not hold here: a program ${lines.slice(0, -1).join(', ')}` }
    if (given !== 'out\n') return { works: false, why: `${name} hands no files out here` }
    const hog = await engine.run(probeRun(HOG, [String(3 * PROBE_MEMORY)], { ...limits, memoryBytes: PROBE_MEMORY }))
    // Only an end by that limit counts: on a busy machine it may be the clock's.
    if (hog.hit?.limit === 'memory') return { works: true, wall, limits: promised }
    const absent = {
      limit: 'memory',
      status: 'absent',
      how: 'a program that took three times as much was not ended for it',
    } as const
    return { works: true, wall, limits: promised.map((one) => (one.limit === 'memory' ? absent : one)) }
  } catch (error) {
    return { works: false, why: messageOf(error) }
  }
}
