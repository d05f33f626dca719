// Processes of node, timed whole: from start to exit.

import { spawnSync } from 'node:child_process'
import { eiderProcess } from '../support/workspace.ts'
import type { Figure } from './figure.ts'

export const bareNode = () => timeNode(['-e', '0'], '/')

export const timeEider = (args: readonly string[], cwd: string) =>
  timeNode(eiderProcess(args).args, cwd)

/** Milliseconds from start to exit of a process of node. */
export function timeNode(args: readonly string[], cwd: string): Promise<number> {
  const startedMs = performance.now()
  const { status, stderr } = spawnSync(process.execPath, args, { cwd, encoding: 'utf8' })
  const ms = performance.now() - startedMs
  if (status !== 0) throw new Error(`exit code ${status}: ${args.join(' ')}\n${stderr}`)
  return Promise.resolve(ms)
}

/** `atMost`: the goal for ours / the baseline. */
export function timeFigure(
  name: string,
  times: { readonly ours: number; readonly baseline: number },
  atMost: number,
): Figure {
  return {
    name,
    ratio: times.ours / times.baseline,
    bound: { at: 'most', ratio: atMost },
    measured: `${Math.round(times.ours)} ms against ${Math.round(times.baseline)} ms`,
  }
}
