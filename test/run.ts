// Runs every *.test.js below this directory, each in a process of its own, and ends with `N passed, N failed`.
// uvu exits 0 when a file forgets `.run()` or throws in a hook, so its counts are read: a file without tests, with
// fewer passed than total, with an exit code, or over the time limit is red.
//
//   node dist/test/run.js [part of a path]...

import { spawn } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { ifAsked } from './if-asked.ts'
import { onBoth } from './on-lakes.ts'
import { missingLakeParts, missingParts, partsAreRequired } from './support/lake/parts.ts'
import { SERVERS_VARIABLE, startServers } from './support/lake/servers.ts'

/** The long forms of CONTRIBUTING.md take as long as they take. */
const isLong =
  ['EIDER_CRASH_POINTS', 'EIDER_LOAD'].some((name) => process.env[name] === 'all') ||
  ['ROUNDS', 'GROWTH'].some((name) => process.env[`EIDER_LAKE_${name}`] !== undefined) ||
  ['PARTITION', 'SOAK'].some((name) => process.env[`EIDER_${name}_SECONDS`] !== undefined)
const FILE_TIMEOUT_MS = isLong ? 2 * 60 * 60_000 : 240_000
/** A run on a lake takes ten times as long as one on a file. */
const ON_LAKE_TIMEOUT_MS = Math.max(FILE_TIMEOUT_MS, 30 * 60_000)

const lakeIsMissing = missingLakeParts().length > 0 && !partsAreRequired

interface FileResult {
  readonly passed: number
  readonly failed: number
  readonly skipped: number
}

const here = fileURLToPath(new URL('.', import.meta.url))
refuseStaleBundle()
const filters = process.argv.slice(2)
const files = readdirSync(here, { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.test.js'))
  .toSorted()
/** Those of `onBoth` once more, by a name below lake/. */
const onLakes = new Map(onBoth.map((path) => [`lake/${path}.test.js`, `${path}.test.js`]))
const entries = [...onLakes.keys(), ...files].filter((file) =>
  filters.length === 0
    ? !ifAsked.includes(file.replace('.test.js', ''))
    : filters.some((part) => file.includes(part)),
)

const needsLake = (file: string) => file.startsWith('lake/') || file.startsWith('support/lake/')
/** One PostgreSQL and one store for all: to start them takes seconds of a processor. */
const servers =
  missingLakeParts().length === 0 && entries.filter(needsLake).length > 1 ? startServers() : null

const results: FileResult[] = []
const queue = [...entries]
// One more than there are processors: tests of processes and servers wait as much as they work.
const workers = Array.from({ length: Math.min(4, availableParallelism() + 1) }, async () => {
  for (let file = queue.shift(); file !== undefined; file = queue.shift())
    results.push(await runFile(file))
})
await Promise.all(workers)
await (await servers)?.[Symbol.asyncDispose]()

const sum = (pick: (result: FileResult) => number) =>
  results.reduce((total, result) => total + pick(result), 0)
const passed = sum((result) => result.passed)
const skipped = sum((result) => result.skipped)
const failed = sum((result) => result.failed) || (passed + skipped === 0 ? 1 : 0)
print(`${entries.length} files in ${Math.round(performance.now() / 1000)} s`)
if (skipped > 0) for (const line of missingParts()) print(`skipped: ${line}`)
print(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed > 0 ? 1 : 0

async function runFile(file: string): Promise<FileResult> {
  const startedAt = Date.now()
  const isOnLake = onLakes.has(file)
  if (isOnLake && lakeIsMissing) return skip(file)
  const given = needsLake(file) ? await servers : null
  const child = spawn(process.execPath, [here + (onLakes.get(file) ?? file)], {
    env: {
      ...process.env,
      ...(isOnLake && { EIDER_TEST_TARGET: 'lake' }),
      ...(given && { [SERVERS_VARIABLE]: JSON.stringify(given) }),
      FORCE_COLOR: '0',
      NO_COLOR: '1',
    },
  })
  let output = ''
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const timeoutMs = isOnLake ? ON_LAKE_TIMEOUT_MS : FILE_TIMEOUT_MS
  const timer = setTimeout(() => child.kill('SIGKILL'), timeoutMs)
  const exitCode = await new Promise<number | null>((resolve) => child.on('close', resolve))
  clearTimeout(timer)

  const total = countAfter('Total', output)
  const passed = countAfter('Passed', output)
  const skipped = countAfter('Skipped', output)
  // All of a file may be skipped, as that of a browser where there is none.
  const ok = exitCode === 0 && total + skipped > 0 && passed === total
  const failed = ok ? 0 : Math.max(1, total - passed)
  const mark = !ok ? 'FAIL' : total === 0 ? 'skip' : 'ok  '
  const counts = `${passed} of ${total}${skipped > 0 ? `, ${skipped} skipped` : ''}`
  print(`${mark} ${nameOf(file)} (${counts}, ${Date.now() - startedAt} ms)`)
  if (!ok) print(`${output.trimEnd()}\n     exit code ${exitCode}\n`)
  // A long form prints its figures.
  else if (isLong) print(output.trim())
  return { passed, failed, skipped }
}

function skip(file: string): FileResult {
  print(`skip ${nameOf(file)}`)
  return { passed: 0, failed: 0, skipped: 1 }
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

function countAfter(word: string, output: string): number {
  return [...output.matchAll(new RegExp(`^ *${word}: +(\\d+)`, 'gm'))].reduce(
    (all, match) => all + Number(match[1]),
    0,
  )
}

function print(line: string): void {
  process.stdout.write(line + '\n')
}
