/** Whether this process runs in a container, and in which kind: what holds there depends on what the container was given. */

import { existsSync, readFileSync } from 'node:fs'

export type ContainerKind = 'kubernetes' | 'podman' | 'docker' | 'gvisor' | 'container'

/** The files and variables that containers are known by. */
export interface ContainerTraces {
  readonly exists: (path: string) => boolean
  readonly read: (path: string) => string
  readonly env: Readonly<Record<string, string | undefined>>
}

/** The kind of container; null on a machine or in a virtual one. */
export function containerKind(traces: ContainerTraces = thisProcess()): ContainerKind | null {
  const { exists, read, env } = traces
  if (read('/proc/version').includes('gVisor')) return 'gvisor'
  if (env.KUBERNETES_SERVICE_HOST !== undefined) return 'kubernetes'
  if (exists('/run/.containerenv')) return 'podman'
  if (exists('/.dockerenv')) return 'docker'
  const groups = read('/proc/1/cgroup')
  if (/\/kubepods/.test(groups)) return 'kubernetes'
  if (/\/docker[/-]/.test(groups)) return 'docker'
  if (/\/libpod/.test(groups)) return 'podman'
  return env.container === undefined || env.container === '' ? null : 'container'
}

function thisProcess(): ContainerTraces {
  return {
    exists: existsSync,
    read: (path) => {
      try {
        return readFileSync(path, 'utf8')
      } catch {
        return ''
      }
    },
    env: process.env,
  }
}
