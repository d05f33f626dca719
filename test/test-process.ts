// The side of the runner of one process of tests (run-files.ts).

import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import type { FileCounts, FileToRun } from './run-files.ts'
import { processorMsOf } from './support/processor-time.ts'

/** By then a process has ended by itself, if its files have closed what they opened. */
const END_TIMEOUT_MS = 30_000

/** What came of a file. */
export interface FileOutcome extends FileCounts {
  /** What the process printed meanwhile. */
  readonly output: string
  readonly durationMs: number
  /** Of its process and those below; a busy machine changes it less than the duration. Null where it is not known. */
  readonly processorMs: number | null
}

interface TestProcess {
  run(file: Exclude<FileToRun, 'end'>, timeoutMs: number): Promise<FileOutcome>
  /** False: it has crashed, or was killed. */
  isRunning(): boolean
  /** What is wrong with the end of the process; null: it ended by itself with exit code 0. */
  end(): Promise<string | null>
}

export function startTestProcess(env: Readonly<Record<string, string>>): TestProcess {
  const child = fork(fileURLToPath(new URL('./run-files.js', import.meta.url)), {
    // As many threads as bin/run.js has, for commands that run there.
    env: { UV_THREADPOOL_SIZE: '24', ...process.env, ...env, FORCE_COLOR: '0', NO_COLOR: '1' },
    silent: true,
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  let ended: string | null = null
  const closed = new Promise<string>((resolve) =>
    child.once('close', (code, signal) => resolve((ended = signal ?? `exit code ${code}`))),
  )
  const killAfter = (timeoutMs: number) => setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  return {
    isRunning: () => ended === null,
    async run(file, timeoutMs) {
      output = ''
      const startedAt = Date.now()
      const takenBefore = await processorMs(child.pid)
      const timer = killAfter(timeoutMs)
      const counted = new Promise<FileCounts>((resolve) => child.once('message', resolve))
      child.send(file)
      const outcome = await Promise.race([counted, closed])
      clearTimeout(timer)
      const counts = typeof outcome === 'string' ? countsOfEnd(outcome) : outcome
      // Its last lines come by another way than the counts.
      if (counts.problems.length > 0) await new Promise((resolve) => setTimeout(resolve, 100))
      const durationMs = Date.now() - startedAt
      const taken = await processorMs(child.pid)
      const isKnown = taken !== null && takenBefore !== null && ended === null
      return { ...counts, output, durationMs, processorMs: isKnown ? taken - takenBefore : null }
    },
    async end() {
      if (ended !== null) return null
      output = ''
      const timer = killAfter(END_TIMEOUT_MS)
      child.send('end' satisfies FileToRun)
      const how = await closed
      clearTimeout(timer)
      return how === 'exit code 0' ? null : `${output}${how}`
    },
  }
}

function countsOfEnd(how: string): FileCounts {
  const problems = [`its process ended before its tests: ${how}`]
  return { passed: 0, total: 0, skipped: 0, problems, residentBytes: 0 }
}

/** Null where the system is not Linux. */
async function processorMs(pid: number | undefined): Promise<number | null> {
  return pid === undefined ? null : await processorMsOf(pid).catch(() => null)
}
