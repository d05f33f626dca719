// Processor time, user and system, of a service with its children.

import { readdir, readFile } from 'node:fs/promises'

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
