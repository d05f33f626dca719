// Runs the files *.test.js below this directory, and ends with `N passed, N failed`. Without words it runs those of
// `npm test`; --system runs those of `npm run test:system`, and --all both.
//
//   node dist/test/run.js [--system | --all] [part of a path]...
//
// Files run one after the other in a few processes (run-files.ts), since to load the program takes longer than most
// tests of it. A file has a process to itself if it is a system test, or says so at its head. It is red with a test that
// fails, without tests, when its process ends, exits with a code or does not end, and over its time limit.

import { readdirSync, readFileSync, statSync } from 'node:fs'
import { availableParallelism, cpus, loadavg } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { onBoth } from './on-lakes.ts'
import { missingLakeParts, missingParts, partsAreRequired } from './support/lake/parts.ts'
import { processorMsOf } from './support/processor-time.ts'
import { SERVERS_VARIABLE, startServers } from './support/lake/servers.ts'
import { type FileOutcome, startTestProcess } from './test-process.ts'
import { ifAsked, isSystemTest, startsProcesses, takesLong } from './which-run.ts'

/** The long forms of CONTRIBUTING.md take as long as they take. */
const isLong =
  ['EIDER_CRASH_POINTS', 'EIDER_LOAD'].some((name) => process.env[name] === 'all') ||
  ['EIDER_CONFIGURATIONS', 'EIDER_POWER_CUTS', 'EIDER_SIMULATION_SEEDS'].some(
    (name) => process.env[name] !== undefined,
  ) ||
  ['ROUNDS', 'GROWTH'].some((name) => process.env[`EIDER_LAKE_${name}`] !== undefined) ||
  ['PARTITION', 'SOAK'].some((name) => process.env[`EIDER_${name}_SECONDS`] !== undefined)
const FILE_TIMEOUT_MS = isLong ? 2 * 60 * 60_000 : 240_000
/** A run on a lake takes ten times as long as one on a file. */
const ON_LAKE_TIMEOUT_MS = Math.max(FILE_TIMEOUT_MS, 30 * 60_000)
/** A process ends, and another one begins, after so many files or with so much memory: each leaves its modules. */
const FILES_PER_PROCESS = 40
const RESIDENT_BYTES = 700e6
/** Where processors had nothing to do for this share of so long, one more process runs a few files. */
const IDLE_SHARE = 0.12
const IDLE_MS = 500
const MORE_PROCESSES = 3
const FILES_OF_MORE = 8

const lakeIsMissing = missingLakeParts().length > 0 && !partsAreRequired

interface FileResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

// Node reads these certificates whenever it starts, which takes twice as long as the rest of its start. Tests stay on the
// machine.
delete process.env['NODE_EXTRA_CA_CERTS']

const here = fileURLToPath(new URL('.', import.meta.url))
refuseStaleBundle()
const words = process.argv.slice(2)
const filters = words.filter((word) => !word.startsWith('--'))
const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .toSorted()
/** Those of `onBoth` once more, by a name below lake/. */
const onLakes = new Map(onBoth.map((path) => [`lake/${path}.test.js`, `${path}.test.js`]))
const wanted = [...onLakes.keys(), ...files].filter(isWanted)
const entries = [...wanted.filter(takesLong), ...wanted.filter((file) => !takesLong(file))]
/** At the head of a file: `// Alone in its process: why`, `// Its commands are processes: why`. No comment is compiled. */
const says = (file: string, what: string) =>
  `\n${readFileSync(sourceOf(onLakes.get(file) ?? file), 'utf8')}`.includes(`\n// ${what}: `)
const isAlone = (file: string) => isSystemTest(file) || says(file, 'Alone in its process')
const [alone, together] = [entries.filter(isAlone), entries.filter((file) => !isAlone(file))]

const needsLake = (file: string) => file.startsWith('lake/') || file.startsWith('support/lake/')
/** One PostgreSQL and one store for all: to start them takes seconds of a processor. */
const servers =
  missingLakeParts().length === 0 && entries.filter(needsLake).length > 1 ? startServers() : null

const results: FileResult[] = []
// One more than there are processors: tests wait for disks, clocks and processes. With two for each, tests of how soon
// something is answered failed on a busy machine, so more are begun only while the machine has nothing to do.
const workers = Array.from({ length: Math.min(4, availableParallelism() + 1) }, async () => {
  // These may take minutes; short ones fill the gaps at the end.
  while (alone.length > 0) await runAlone()
  while (together.length > 0) await runFiles(together, FILES_PER_PROCESS)
})
const more = new Set<Promise<void>>()
const idleShare = idleShares()
const looking = setInterval(() => {
  if (idleShare() < IDLE_SHARE || more.size === MORE_PROCESSES) return
  const one = alone.length > 0 ? runAlone() : runFiles(together, FILES_OF_MORE)
  more.add(one)
  void one.finally(() => more.delete(one))
}, IDLE_MS)
await Promise.all(workers)
clearInterval(looking)
await Promise.all(more)
await (await servers)?.[Symbol.asyncDispose]()

const sum = (pick: (result: FileResult) => number) =>
  results.reduce((total, result) => total + pick(result), 0)
const passed = sum((result) => result.passed)
const skipped = sum((result) => result.skipped)
const failed = sum((result) => result.failed) || (passed + skipped === 0 ? 1 : 0)
const seconds = (ms: number) => `${Math.round(ms / 1000)} s`
const taken = await processorMsOf(process.pid).then(
  (ms) => `, ${seconds(ms)} of processors`,
  () => '', // no Linux
)
print(`${entries.length} files in ${seconds(performance.now())}${taken}`)
if (skipped > 0) for (const line of missingParts()) print(`skipped: ${line}`)
print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0

function isWanted(file: string): boolean {
  if (filters.length > 0) return filters.some((part) => file.includes(part))
  if (ifAsked.includes(file.replace('.test.js', ''))) return false
  return words.includes('--all') || isSystemTest(file) === words.includes('--system')
}

async function envOf(file: string): Promise<Readonly<Record<string, string>>> {
  const given = needsLake(file) ? await servers : null
  return {
    ...(onLakes.has(file) && { EIDER_TEST_TARGET: 'lake' }),
    ...(given && { [SERVERS_VARIABLE]: JSON.stringify(given) }),
  }
}

async function runAlone(): Promise<void> {
  const file = alone.shift()
  if (file === undefined) return
  if (onLakes.has(file) && lakeIsMissing) skip(file)
  else await runFiles([file], 1)
}

/** Gives, of all processors, the share of the time since the call before in which they had nothing to do. */
function idleShares(): () => number {
  const read = () => {
    const times = cpus().map((one) => one.times)
    const idle = times.reduce((sum, time) => sum + time.idle, 0)
    const all = times.reduce((sum, { user, nice, sys, irq }) => sum + user + nice + sys + irq, idle)
    return { idle, all }
  }
  let before = read()
  return () => {
    const now = read()
    const share = (now.idle - before.idle) / Math.max(1, now.all - before.all)
    before = now
    return share
  }
}

/** How many processes want each processor, so that what waits for one is not taken for what never ends. */
function busyness(): number {
  return Math.max(1, loadavg()[0]! / availableParallelism())
}

/** In one process, which takes at most so many of the queue. */
async function runFiles(queue: string[], most: number): Promise<void> {
  let file = queue.shift()
  if (file === undefined) return
  const tests = startTestProcess(await envOf(file))
  const ran: string[] = []
  let residentBytes = 0
  const hasRoom = () => tests.isRunning() && ran.length < most && residentBytes < RESIDENT_BYTES
  for (; file !== undefined; file = hasRoom() ? queue.shift() : undefined) {
    const timeoutMs = (onLakes.has(file) ? ON_LAKE_TIMEOUT_MS : FILE_TIMEOUT_MS) * busyness()
    const toRun = {
      file: onLakes.get(file) ?? file,
      isAlone: most === 1,
      isOutside: startsProcesses(file),
      commandsHere: !startsProcesses(file) && !says(file, 'Its commands are processes'),
    }
    const outcome = await tests.run(toRun, timeoutMs)
    results.push(resultOf(file, outcome))
    if (outcome.problems.length > 0 && ran.length > 0) print(`     after ${ran.join(', ')}\n`)
    ran.push(nameOf(file))
    residentBytes = outcome.residentBytes
  }
  const problem = await tests.end()
  if (problem === null) return
  print(`FAIL the end of the process of ${ran.join(', ')}\n${problem}\n`)
  results.push({ passed: 0, failed: 1, skipped: 0 })
}

function resultOf(file: string, outcome: FileOutcome): FileResult {
  const { passed, total, skipped, problems, output, durationMs, processorMs } = outcome
  const isOk = problems.length === 0
  // All of a file may be skipped, as that of a browser where there is none.
  const mark = !isOk ? 'FAIL' : total === 0 ? 'skip' : 'ok  '
  const counts = `${passed} of ${total}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  const taken = processorMs === null ? '' : `, ${processorMs} ms of processors`
  print(`${mark} ${nameOf(file)} (${counts}, ${durationMs} ms${taken})`)
  if (!isOk) print(`${output.trimEnd()}\n\n${problems.join('\n')}\n`)
  // A long form prints its figures.
  else if (isLong) print(output.trim())
  return { passed, failed: isOk ? 0 : Math.max(1, total - passed), skipped }
}

function skip(file: string): void {
  print(`skip ${nameOf(file)}`)
  results.push({ passed: 0, failed: 0, skipped: 1 })
}

function sourceOf(file: string): URL {
  return new URL(`../../test/${file.replace(/\.js$/, '.ts')}`, import.meta.url)
}

function nameOf(file: string): string {
  return relative('.', file).replace(/\.js$/, '')
}

/** The command line is the bundle; `tsc` alone leaves the one of an earlier build. */
function refuseStaleBundle(): void {
  const builtAt = (file: string) =>
    statSync(new URL(`../${file}`, import.meta.url), { throwIfNoEntry: false })?.mtimeMs ?? 0
  if (builtAt('bundle/main.cjs') >= builtAt('src/cli/main.js')) return
  print('dist/bundle is older than dist/src: run `npm run build`\n0 passed, 1 failed')
  process.exit(1)
}

function print(line: string): void {
  process.stdout.write(line + '\n')
}
