/** The engines of a machine in the order that is wished for: the first that was seen to work runs what comes, a few at a time. */

import { availableParallelism } from 'node:os'
import { Fault } from '../../system/fault.ts'
import type {
  ContainerEngine,
  ContainerLimits,
  ContainerOutcome,
  ContainerRun,
  EngineName,
  EngineSupport,
} from './engine.ts'

/** An engine that works, and those before it that do not. */
interface ChosenEngine {
  readonly engine: ContainerEngine
  readonly support: Extract<EngineSupport, { works: true }>
  readonly passedOver: readonly { readonly name: EngineName; readonly why: string }[]
}

export interface EngineSet {
  /** The first engine that works, and has images if needed. Throws `no-engine` if none does. */
  choose(image: string | null): Promise<ChosenEngine>
  /** Runs a program in it, after those that came before. */
  run(run: ContainerRun): Promise<{ readonly outcome: ContainerOutcome; readonly chosen: ChosenEngine }>
  /** Every engine and the result of its probe. */
  survey(): Promise<readonly { readonly name: EngineName; readonly support: EngineSupport }[]>
}

/** Keeps what probes found beyond this process, or does not. */
export interface ProbeMemory {
  recall(name: EngineName): EngineSupport | null
  keep(name: EngineName, support: EngineSupport): void
}

/** Opens the given engines; each is probed once, when its turn comes. */
export function openEngineSet(
  engines: readonly ContainerEngine[],
  limits: ContainerLimits,
  memory: ProbeMemory | null = null,
  atOnce: number = 2 * availableParallelism(),
): EngineSet {
  const probes = new Map<EngineName, Promise<EngineSupport>>()
  const supportOf = (engine: ContainerEngine): Promise<EngineSupport> => {
    const known = probes.get(engine.name)
    if (known) return known
    const recalled = memory?.recall(engine.name)
    const probe = recalled ? Promise.resolve(recalled) : engine.probe(limits)
    probes.set(engine.name, probe)
    if (!recalled) probe.then((support) => support.works && memory?.keep(engine.name, support)).catch(() => {})
    return probe
  }
  const turns = new Turns(atOnce)

  const choose = async (image: string | null): Promise<ChosenEngine> => {
    const passedOver: { name: EngineName; why: string }[] = []
    let unlimited: ChosenEngine | null = null
    for (const engine of engines) {
      if (image !== null && !engine.images) {
        passedOver.push({ name: engine.name, why: `${engine.name} has no images` })
        continue
      }
      const support = await supportOf(engine)
      if (!support.works) passedOver.push({ name: engine.name, why: support.why })
      else if (support.limits.some(({ limit, status }) => limit === 'memory' && status === 'absent')) {
        // A wall without a limit of memory is taken only where none has both.
        unlimited ??= { engine, support, passedOver: [...passedOver] }
        passedOver.push({ name: engine.name, why: `${engine.name} enforces no memory limit here` })
      } else return { engine, support, passedOver }
    }
    if (unlimited) return unlimited
    throw new Fault('no-engine', `no engine can run this: ${passedOver.map(({ why }) => why).join('; ')}`, {
      remedy: 'Install runc, gVisor (runsc), podman or docker, or put "os" into [sandbox.run] engines.',
    })
  }
  return {
    choose,
    run: async (run) => {
      const chosen = await choose(run.image)
      const done = await turns.take(run.signal)
      try {
        return { outcome: await chosen.engine.run(run), chosen }
      } finally {
        done()
      }
    },
    survey: async () => {
      const found: { name: EngineName; support: EngineSupport }[] = []
      for (const engine of engines) found.push({ name: engine.name, support: await supportOf(engine) })
      return found
    },
  }
}

/** So many at once; the others wait in the order they came. */
class Turns {
  #free: number
  readonly #waiting: (() => void)[] = []

  constructor(atOnce: number) {
    this.#free = atOnce
  }

  /** Waits for a turn; the returned function ends it. A cancelled wait takes none. */
  async take(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted()
    if (this.#free > 0) this.#free -= 1
    else await this.#wait(signal)
    return () => this.#pass()
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const go = () => {
        signal.removeEventListener('abort', leave)
        resolve()
      }
      const leave = () => {
        this.#waiting.splice(this.#waiting.indexOf(go), 1)
        reject(signal.reason)
      }
      signal.addEventListener('abort', leave, { once: true })
      this.#waiting.push(go)
    })
  }

  #pass(): void {
    const next = this.#waiting.shift()
    if (next) next()
    else this.#free += 1
  }
}
