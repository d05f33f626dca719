// Processor time, user and system, of a command with all that it starts: the load of the machine changes it little.

import { spawnSync } from 'node:child_process'
import { eiderProcess } from '../support/workspace.ts'

export interface Took {
  readonly ms: number
  readonly processorMs: number
}

interface CommandOptions {
  readonly cwd: string
  readonly env?: NodeJS.ProcessEnv
  readonly exitCode?: number
}

/** From start to exit. Throws with what it printed unless it exits with `exitCode` (0). */
export function takenBy(
  command: string,
  args: readonly string[],
  { cwd, env = process.env, exitCode = 0 }: CommandOptions,
): Took {
  const script = `TIMEFORMAT='%U %S'; time "$@" >&3 2>&3`
  const startedAt = performance.now()
  const { status, output } = spawnSync('bash', ['-c', script, 'bash', command, ...args], {
    cwd,
    env,
    encoding: 'utf8',
    stdio: ['ignore', 'ignore', 'pipe', 'pipe'],
    maxBuffer: 2 ** 26,
  })
  const ms = performance.now() - startedAt
  if (status !== exitCode)
    throw new Error(`exit code ${status}: ${command} ${args.join(' ')}\n${output[3] ?? ''}`)
  const seconds = (output[2] ?? '').trim().split(' ').map(Number)
  return { ms, processorMs: 1_000 * seconds.reduce((sum, part) => sum + part, 0) }
}

export function takenByEider(args: readonly string[], cwd: string, exitCode = 0): Took {
  const { command, args: all, env } = eiderProcess(args)
  return takenBy(command, all, { cwd, env, exitCode })
}
