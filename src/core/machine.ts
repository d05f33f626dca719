// What this process may use of the machine: in a container less than there is.

import { readFileSync } from 'node:fs'
import os from 'node:os'

/** Bytes of memory, by the limit of the control group where it has one. */
export function memoryBytes(): number {
  const limit = process.constrainedMemory()
  return limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem()
}

/**
 * Processors that can work at once, 1 or more: those that it may run on, or the least quota of its control groups. `root`: of
 * the file system.
 */
export function processors(root = '/'): number {
  const quota = Math.ceil(quotaOfGroups(root))
  return Math.max(1, Math.min(os.availableParallelism(), quota))
}

/** Files and connections that it may have open; Infinity where the system does not tell. Node raises it as far as it may. */
export function openFiles(): number {
  const limit = /^Max open files +(\d+)/m.exec(textOf('/proc/self/limits'))?.[1]
  return limit === undefined ? Infinity : Number(limit)
}

/** Infinity where there is none, or no control groups. A group has no more than those that it is in. */
function quotaOfGroups(root: string): number {
  const groups = textOf(`${root}proc/self/cgroup`).split('\n')
  const dir = `${root}sys/fs/cgroup`
  const pathOf = (pattern: RegExp) => groups.map((line) => pattern.exec(line)?.[1]).find(Boolean)
  const quotas = [
    ...upwards(pathOf(/^0::(.*)/)).map((path) => quotaOfV2(`${dir}${path}`)),
    ...upwards(pathOf(/^\d+:(?:\w+,)*cpu(?:,\w+)*:(.*)/)).map((path) =>
      quotaOfV1(`${dir}/cpu${path}`),
    ),
  ]
  return Math.min(...quotas.filter((quota) => quota !== null))
}

/** The group and all that it is in, up to the root: a container often sees its own group as that. */
function upwards(path = '/'): readonly string[] {
  const parts = path.split('/').filter(Boolean)
  return [...parts.map((_, i) => `/${parts.slice(0, parts.length - i).join('/')}`), '/']
}

const quotaOfV2 = (dir: string) => quotient(textOf(`${dir}/cpu.max`).split(' '))

const quotaOfV1 = (dir: string) =>
  quotient([textOf(`${dir}/cpu.cfs_quota_us`), textOf(`${dir}/cpu.cfs_period_us`)])

function quotient([quota = '', period = '']: readonly string[]): number | null {
  const processors = Number(quota) / Number(period)
  return processors > 0 && Number.isFinite(processors) ? processors : null
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
