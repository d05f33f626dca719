// What this process may use of the machine: in a container less than there is.

import { readFileSync } from 'node:fs'
import os from 'node:os'

/** Bytes of memory: those of the machine, or the least limit of its control groups. `root`: of the file system. */
export function memoryBytes(root = '/'): number {
  return Math.min(os.totalmem(), leastOfGroups(root, MEMORY))
}

/** As much of it as DuckDB takes by itself, which sees its own control group and none above. null: there is no limit. */
export function engineMemory(): string | null {
  const bytes = memoryBytes()
  return bytes < os.totalmem() ? `${Math.floor((bytes * 0.8) / 2 ** 20)}MiB` : null
}

/**
 * Processors that can work at once, 1 or more: those that it may run on, or the least quota of its control groups. `root`: of
 * the file system.
 */
export function processors(root = '/'): number {
  const quota = Math.ceil(leastOfGroups(root, PROCESSORS))
  return Math.max(1, Math.min(os.availableParallelism(), quota))
}

/** Files and connections that it may have open; Infinity where the system does not tell. Node raises it as far as it may. */
export function openFiles(): number {
  const limit = /^Max open files +(\d+)/m.exec(textOf('/proc/self/limits'))?.[1]
  return limit === undefined ? Infinity : Number(limit)
}

interface Controller {
  /** In /proc/self/cgroup, and as a directory of the first version. */
  readonly name: string
  /** Of the group in this directory; null: it has none. */
  readonly second: (dir: string) => number | null
  readonly first: (dir: string) => number | null
}

const PROCESSORS: Controller = {
  name: 'cpu',
  second: (dir) => quotient(textOf(`${dir}/cpu.max`).split(' ')),
  first: (dir) => quotient([textOf(`${dir}/cpu.cfs_quota_us`), textOf(`${dir}/cpu.cfs_period_us`)]),
}

/** Above `memory.high` the system stops a process for as long as it takes to get memory back. */
const MEMORY: Controller = {
  name: 'memory',
  second: (dir) => {
    const limits = ['max', 'high'].flatMap(
      (name) => positive(textOf(`${dir}/memory.${name}`)) ?? [],
    )
    return limits.length === 0 ? null : Math.min(...limits)
  },
  first: (dir) => positive(textOf(`${dir}/memory.limit_in_bytes`)),
}

/** Infinity where there is none, or no control groups. A group has no more than those that it is in. */
function leastOfGroups(root: string, { name, second, first }: Controller): number {
  const groups = textOf(`${root}proc/self/cgroup`).split('\n')
  const dir = `${root}sys/fs/cgroup`
  const pathOf = (pattern: RegExp) => groups.map((line) => pattern.exec(line)?.[1]).find(Boolean)
  const ofFirst = new RegExp(String.raw`^\d+:(?:\w+,)*${name}(?:,\w+)*:(.*)`)
  const limits = [
    ...upwards(pathOf(/^0::(.*)/)).map((path) => second(`${dir}${path}`)),
    ...upwards(pathOf(ofFirst)).map((path) => first(`${dir}/${name}${path}`)),
  ]
  return Math.min(...limits.filter((limit) => limit !== null))
}

/** The group and all that it is in, up to the root: a container often sees its own group as that. */
function upwards(path = '/'): readonly string[] {
  const parts = path.split('/').filter(Boolean)
  return [...parts.map((_, i) => `/${parts.slice(0, parts.length - i).join('/')}`), '/']
}

const quotient = ([quota = '', period = '']: readonly string[]) =>
  positive(String(Number(quota) / Number(period)))

/** null for what is no number, as `max` and what cannot be read. */
function positive(text: string): number | null {
  const number = Number(text)
  return number > 0 && Number.isFinite(number) ? number : null
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}
