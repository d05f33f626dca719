// A notification to a program: JSON on its standard input.

import { spawn } from 'node:child_process'
import { limits } from '../../core/limits.ts'
import { type Exit, exitText, eachLine } from '../child.ts'
import type { Delivery, Surroundings } from './delivery.ts'

/** `line`: for the shell. It is not tried again: what it has done by then is its own affair. */
export async function runCommand(
  line: string,
  body: string,
  signal: AbortSignal,
  { cwd, onLine }: Surroundings,
): Promise<Delivery> {
  const child = spawn(line, { cwd, shell: true, detached: true, stdio: 'pipe' })
  eachLine(child.stdout, onLine)
  eachLine(child.stderr, onLine)
  child.stdin.on('error', () => {}) // it may end without reading
  child.stdin.end(body + '\n')
  let why: string | null = null
  const end = (because: string) => {
    why ??= because
    // The shell and all that it has started.
    if (child.pid !== undefined) killGroup(child.pid)
  }
  const onAbort = () => end('stopped with eider up')
  signal.addEventListener('abort', onAbort)
  const timer = setTimeout(() => end('it did not end in time'), limits.notifyCommandMs)
  const exit = await new Promise<Exit>((resolve) => {
    child.once('error', (error) => resolve({ code: null, signal: error.message }))
    child.once('exit', (code, name) => resolve({ code, signal: name }))
  })
  clearTimeout(timer)
  signal.removeEventListener('abort', onAbort)
  return { ok: exit.code === 0, tries: 1, answer: why ?? exitText(exit) }
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}
