// A process of tests. It runs the files that run.ts names to it, one after the other, and sends what came of each.
// uvu exits 0 when a file forgets `.run()` or throws in a hook, and adds up all files of a process, so its queue is read
// here: a file without tests, one with an error outside of its tests, and one that leaves this process changed fail.

import { COMMANDS_VARIABLE } from './support/command-here.ts'
import { CORES_VARIABLE } from './which-run.ts'

/** What run.ts sends; `end`: there are no more. */
export type FileToRun =
  | {
      readonly file: string
      readonly isAlone: boolean
      /** Whether it is about the program as a process (which-run.ts). */
      readonly isOutside: boolean
      readonly commandsHere: boolean
    }
  | 'end'

export interface FileCounts {
  readonly passed: number
  readonly total: number
  readonly skipped: number
  /** The texts of uvu about tests that fail, and what is wrong with the file. */
  readonly problems: readonly string[]
  readonly residentBytes: number
}

/** A suite of uvu: errors (true: none), then how many passed, were skipped and were to run. */
type Suite = () => Promise<readonly [string | true, number, number, number]>

const uvu = globalThis as unknown as { UVU_DEFER: boolean; UVU_QUEUE: Suite[][] }
uvu.UVU_DEFER = true
await import('uvu')

process.on('message', (message: FileToRun) => void run(message))

async function run(next: FileToRun): Promise<void> {
  if (next === 'end') return process.disconnect()
  // While a file runs, nothing but its own work keeps this process: an await that never ends is then the end.
  process.channel?.unref()
  const counts = await countsOf(next)
  process.channel?.ref()
  process.send?.(counts)
}

async function countsOf({
  file,
  isAlone,
  commandsHere,
  isOutside,
}: Exclude<FileToRun, 'end'>): Promise<FileCounts> {
  process.env[COMMANDS_VARIABLE] = commandsHere ? 'here' : 'processes'
  if (isOutside) delete process.env[CORES_VARIABLE]
  else process.env[CORES_VARIABLE] = '1'
  const before = processState()
  const problems: string[] = []
  const sums = { passed: 0, total: 0, skipped: 0 }
  uvu.UVU_QUEUE = [[]]
  try {
    await import(new URL(file, import.meta.url).href)
    for (const suite of uvu.UVU_QUEUE[0] ?? []) {
      const [errors, passed, skipped, total] = await suite()
      if (errors !== true) problems.push(errors)
      sums.passed += passed
      sums.skipped += skipped
      sums.total += total
    }
  } catch (error) {
    problems.push(`outside of tests: ${(error as Error).stack}`)
  }
  if (sums.total + sums.skipped === 0)
    problems.push('there are no tests in it, or it forgets `test.run()`')
  if (sums.passed < sums.total && problems.length === 0) problems.push('a hook throws')
  // A signal or an error would be taken for one of the next file.
  if (!isAlone) problems.push(...differences(before, processState()))
  return { ...sums, problems, residentBytes: process.memoryUsage.rss() }
}

/** Versions of oclif and its parts, which each of their copies adds. */
const libraryGlobals = ['oclif', 'http-call']

/** What files in one process share. */
function processState(): ReadonlyMap<string, string> {
  const listeners = process
    .eventNames()
    .map((name) => [`listeners of ${String(name)}`, process.listenerCount(name)])
  return new Map(
    [
      ['working directory', process.cwd()],
      ['exit code', process.exitCode ?? 0],
      ...Object.getOwnPropertyNames(globalThis)
        .filter((name) => !libraryGlobals.includes(name))
        .map((name) => [`globalThis.${name}`, '']),
      ...Object.entries(process.env).map(([name, value]) => [
        `environment variable ${name}`,
        value,
      ]),
      ...listeners,
    ].map(([name, value]) => [String(name), String(value)]),
  )
}

function differences(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const names = new Set([...before.keys(), ...after.keys()])
  return [...names]
    .filter((name) => before.get(name) !== after.get(name))
    .map(
      (name) =>
        `it changes for other files: ${name}. It needs a line "// Alone in its process: why" at its head`,
    )
}
