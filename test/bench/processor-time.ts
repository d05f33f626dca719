// Processor time, user and system, which the load of the machine changes little: of a command with all that it starts, and
// of a service with its children.

import { spawnSync } from 'node:child_process'
import { readdir, readFile } from 'node:fs/promises'
import { eiderProcess } from '../support/workspace.ts'

export interface Took {
  readonly ms: number
  readonly processorMs: number
}

export interface CommandOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
}

/** From start to exit. Throws with what it printed unless it exits with 0. */
export function takenBy(
  command: string,
  args: readonly string[],
  { cwd, env = process.env }: CommandOptions,
): Took {
  const script = `TIMEFORMAT='%U %S'; time "$@" >/dev/null 2>&3`
  const startedAt = performance.now()
  const { status, output } = spawnSync('bash', ['-c', script, 'bash', command, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 26,
  })
  const ms = performance.now() - startedAt
  if (status !== 0)
    throw new Error(`exit code ${status}: ${command} ${args.join(' ')}\n${output[3] ?? ''}`)
  const seconds = (output[2] ?? '').trim().split(' ').map(Number)
  return { ms, processorMs: 1_000 * seconds.reduce((sum, part) => sum + part, 0) }
}

export function takenByEider(args: readonly string[], cwd: string): Took {
  const { command, args: all, env } = eiderProcess(args)
  return takenBy(command, all, { cwd, env })
}

/** Linux counts in these. */
const TICK_MS = 10

/** Of a process and all below it since they started; of Linux only. */
export async function processorMsOf(pid: number): Promise<number> {
  const processes = new Map<number, { readonly parent: number; readonly ticks: number }>()
  for (const name of await readdir('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const stat = await readFile(`/proc/${name}/stat`, 'utf8').catch(() => null)
    if (stat === null) continue
    // The name of the program is in parentheses, and may have spaces.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    const ticks = fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
    processes.set(Number(name), { parent: Number(fields[1]), ticks })
  }
  const isBelow = (one: number): boolean =>
    one === pid || (processes.has(one) && isBelow(processes.get(one)!.parent))
  let ticks = 0
  for (const [one, found] of processes) if (isBelow(one)) ticks += found.ticks
  return ticks * TICK_MS
}
