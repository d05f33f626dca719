// A process that eider up has started. It is in a separate process group, so that Ctrl-C in the terminal reaches the
// supervisor alone, which then ends its children in order. A channel between the two tells the child when the
// supervisor is gone, however that died.

import { spawn, type ChildProcess } from 'node:child_process'
import type { Readable } from 'node:stream'
import { limits } from '../core/limits.ts'

export interface Program {
  readonly command: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
}

export interface Exit {
  readonly code: number | null
  readonly signal: string | null
}

export interface ChildOutput {
  readonly onResult: (line: string) => void
  readonly onLog: (line: string) => void
}

export class Child {
  readonly #process: ChildProcess
  /** After its last line. */
  readonly ended: Promise<Exit>

  private constructor(started: ChildProcess, { onResult, onLog }: ChildOutput) {
    this.#process = started
    eachLine(started.stdout!, onResult)
    eachLine(started.stderr!, onLog)
    this.ended = endOf(started)
  }

  static start({ command, args, cwd, env }: Program, output: ChildOutput): Child {
    const started = spawn(command, args, {
      cwd,
      env,
      detached: true,
      stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
    })
    return new Child(started, output)
  }

  /** null: it could not be started. */
  get pid(): number | null {
    return this.#process.pid ?? null
  }

  /** SIGTERM, and SIGKILL when it still lives after `graceMs`. */
  async end(graceMs: number): Promise<void> {
    this.#process.kill('SIGTERM')
    const timer = setTimeout(() => this.kill(), graceMs)
    await this.ended
    clearTimeout(timer)
  }

  kill(): void {
    this.#process.kill('SIGKILL')
  }
}

function endOf(started: ChildProcess): Promise<Exit> {
  return new Promise((resolve) => {
    started.once('error', (error) => resolve({ code: null, signal: error.message }))
    started.once('exit', (code, signal) => {
      // What it started may still hold the pipes.
      const timer = setTimeout(() => resolve({ code, signal }), limits.lastLinesMs)
      started.once('close', () => {
        clearTimeout(timer)
        resolve({ code, signal })
      })
    })
  })
}

export const exitText = ({ code, signal }: Exit): string =>
  signal === null ? `exit code ${code}` : signal

/** The lines of a stream as they come. One without an end is passed on in pieces. */
export function eachLine(stream: Readable, onLine: (line: string) => void): void {
  let rest = ''
  stream.setEncoding('utf8')
  stream.on('data', (text: string) => {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
    if (rest.length < limits.childLineLength) return
    onLine(rest)
    rest = ''
  })
  stream.on('end', () => {
    if (rest !== '') onLine(rest)
  })
  stream.on('error', () => {})
}
