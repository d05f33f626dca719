// npm run prove [-- --minutes 60] [--seed N] [--part WORD]
//
// Tries to lose, double or falsify something for so long, and prints a table of what was tried and what came of it: long
// forms of tests (CONTRIBUTING.md), one part after the other, each with its share of the time. Exits with 1 when anything is
// wrong. The pieces of a part are processes, as many at once as there are processors, or more where they mostly wait.
//
// Each row says which seeds were tried. Runs of other seeds add up: the last line says where the next one begins. --part
// gives all of the time to those parts whose names contain the word. A piece that has begun is ended, so it may take some
// minutes more.

import { spawn } from 'node:child_process'
import os from 'node:os'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { execFileSync } from 'node:child_process'
import { parseArgs } from 'node:util'
import { version as duckdbVersion } from '@duckdb/node-api'
import { live } from './simulation/child.ts'
import { COMMANDS_VARIABLE } from './support/command-here.ts'
import { missingLakeParts } from './support/lake/parts.ts'
import { type OwnServers, SERVERS_VARIABLE, startServers } from './support/lake/servers.ts'
import { CORES_VARIABLE } from './which-run.ts'

interface Tried {
  /** Such as lives, cuts. */
  count: number
  /** What is wrong, in words: each is an outcome that must not be. */
  readonly wrong: string[]
}

interface Part {
  readonly name: string
  /** Of all the time. */
  readonly share: number
  /** Where that many are tried, it is enough. */
  readonly most: number
  /** How many seeds a piece of the work takes. */
  readonly seeds: number
  /** How many pieces a processor has at once: those that kill processes mostly wait. */
  readonly atOnce: number
  /** A piece of the work; `ms`: what is left of its time. */
  readonly next: (first: number, tried: Tried, ms: number) => Promise<void>
  /** Why it cannot be tried here. */
  readonly missing?: readonly string[]
}

const LIVES_OF_PIECE = 50
const CUTS_OF_PIECE = 60
const HISTORIES_OF_PIECE = 32
const SHAPES_OF_PIECE = 20
const KILLS_OF_PIECE = 36
const LAKE_KILLS_OF_PIECE = 40
const SECONDS_OF_REQUESTS = 60
/** By then a piece has ended, however busy the machine is. */
const STUCK_MS = 30 * 60_000
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    part: { type: 'string', default: '' },
  },
})
/** PostgreSQL and the store, for all pieces. */
const lakes: { servers: Promise<OwnServers> | null } = { servers: null }
const minutes = Number(values.minutes)
const seed = Number(values.seed)

const parts: readonly Part[] = [
  {
    name: 'simulated lives',
    share: 0.25,
    most: 10_000,
    seeds: LIVES_OF_PIECE,
    atOnce: 1,
    next: nextLives,
  },
  { name: 'power cuts under runs', share: 0.15, most: 2_000, seeds: 1, atOnce: 1, next: nextCuts },
  {
    name: 'kills of daemon and run',
    share: 0.15,
    most: 2_000,
    seeds: 1,
    atOnce: 2,
    next: nextKills,
  },
  {
    name: 'kills on a lake',
    share: 0.15,
    most: 500,
    seeds: 1,
    atOnce: 1,
    next: nextLakeKills,
    missing: missingLakeParts(),
  },
  {
    name: 'histories of models',
    share: 0.1,
    most: 10_000,
    seeds: HISTORIES_OF_PIECE,
    atOnce: 1,
    next: nextHistories,
  },
  {
    name: 'shapes of configuration',
    share: 0.05,
    most: 300,
    seeds: SHAPES_OF_PIECE,
    atOnce: 1,
    next: nextShapes,
  },
  {
    name: 'hostile requests',
    share: 0.15,
    most: 1_000_000,
    seeds: 1,
    atOnce: 1,
    next: nextRequests,
  },
]

async function nextLives(first: number, tried: Tried): Promise<void> {
  const lived = await live({ first, last: first + LIVES_OF_PIECE - 1 })
  tried.count += lived.length
  for (const { seed: of, wrong } of lived)
    if (wrong !== null) tried.wrong.push(`seed ${of}: ${wrong}`)
}

async function nextCuts(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_POWER_CUTS: `${CUTS_OF_PIECE}`, EIDER_POWER_CUTS_SEED: `${first}` }
  await runTest('crash/engine-power-cuts', env, tried, /(\d+) cuts/g)
}

async function nextKills(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_KILLS: `${KILLS_OF_PIECE}`, EIDER_KILLS_SEED: `${first}` }
  await runTest('crash/random-kills', env, tried, /(\d+) kills/g)
}

async function nextLakeKills(first: number, tried: Tried): Promise<void> {
  const { address, directory, postgresPort, storePort } = await (lakes.servers ??= startServers())
  const shared = JSON.stringify({ address, directory, postgresPort, storePort })
  const env = {
    EIDER_LAKE_KILLS: `${LAKE_KILLS_OF_PIECE}`,
    EIDER_KILLS_SEED: `${first}`,
    [SERVERS_VARIABLE]: shared,
  }
  await runTest('lake/random-kills', env, tried, /(\d+) kills/g)
}

async function nextHistories(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_HISTORIES: `${HISTORIES_OF_PIECE}`, EIDER_HISTORIES_SEED: `${first}` }
  await runTest('pipeline/changes/random-histories', env, tried, /(\d+) histories/g)
}

async function nextShapes(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_CONFIGURATIONS: `${SHAPES_OF_PIECE}`, EIDER_CONFIGURATIONS_SEED: `${first}` }
  await runTest('commands/odd-configuration', env, tried, /(\d+) shapes/g)
}

async function nextRequests(first: number, tried: Tried, ms: number): Promise<void> {
  const seconds = Math.min(SECONDS_OF_REQUESTS, Math.ceil(ms / 1000))
  const env = { EIDER_FUZZ_SECONDS: `${seconds}`, EIDER_FUZZ_SEED: `${first}` }
  await runTest('odata/http/http-fuzz', env, tried, /(\d+) requests/g)
}

/**
 * Commands that end by themselves are called in the process of the test, and engines have one thread, as in most tests:
 * there are other pieces for the other processors.
 */
const CHEAP = { [COMMANDS_VARIABLE]: 'here', [CORES_VARIABLE]: '1', UV_THREADPOOL_SIZE: '24' }

/** A file of tests, in a process of its own, which says how many it has tried. */
async function runTest(
  name: string,
  more: Readonly<Record<string, string>>,
  tried: Tried,
  counted: RegExp,
): Promise<void> {
  const path = fileURLToPath(new URL(`./${name}.test.js`, import.meta.url))
  const env = { ...process.env, ...CHEAP, ...more }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | string>((resolve) =>
    child.once('exit', (code, signal) => resolve(code ?? `ended by ${signal}`)),
  )
  const stuck = setTimeout(() => child.kill('SIGKILL'), STUCK_MS)
  const [printed, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
  clearTimeout(stuck)
  const counts = [...printed.matchAll(counted)].map(([, count]) => Number(count))
  tried.count += counts.reduce((sum, count) => sum + count, 0)
  const how = await ended
  if (how !== 0 || counts.length === 0)
    tried.wrong.push(`${name} ${JSON.stringify(more)}: ${how}: ${printed}${problems}`)
}

/** `next`: the first seed that was not tried. */
async function tryPart(part: Part, ms: number): Promise<Tried & { readonly next: number }> {
  const tried: Tried = { count: 0, wrong: [] }
  const endAtMs = performance.now() + ms
  let next = seed
  const lane = async () => {
    while (tried.count < part.most && performance.now() < endAtMs) {
      const first = next
      next += part.seeds
      await part
        .next(first, tried, endAtMs - performance.now())
        .catch((error: unknown) => tried.wrong.push(`seed ${first}: ${String(error)}`))
    }
  }
  const lanes = part.atOnce * os.availableParallelism()
  await Promise.all(Array.from({ length: lanes }, lane))
  return { ...tried, next }
}

/**
 * What is lost, doubled or otherwise wrong is told apart by the words of the tests. That a process ended comes first: what it
 * said before may have any words.
 */
function kindsOf(wrong: readonly string[]): readonly number[] {
  const kinds = [/no peace|ended early|is stuck|ended by SIGKILL/, /lost|missing/, /twice|doubled/]
  const kindOf = (one: string) => kinds.findIndex((pattern) => pattern.test(one))
  const count = (kind: number) => wrong.filter((one) => kindOf(one) === kind).length
  return [count(1), count(2), count(0), count(-1)]
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const memoryGiB = Math.round(os.totalmem() / 2 ** 30)
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${os.availableParallelism()} processors, ${memoryGiB} GiB, ` +
    `Node ${process.versions.node}, DuckDB ${duckdbVersion()}, ${minutes} minutes, seed ${seed}\n\n` +
    '| what | tried | seeds | minutes | lost | doubled | stuck | otherwise wrong |\n| --- | --- | --- | --- | --- | --- | --- | --- |\n',
)
const asked = parts.filter(({ name }) => name.includes(values.part))
const shares = asked.reduce((sum, { share }) => sum + share, 0)
let nextSeed = seed
for (const part of asked) {
  const { name, missing = [] } = part
  if (missing.length > 0) {
    process.stdout.write(`| ${name} | skipped: ${missing.join('; ')} | | | | | | |\n`)
    continue
  }
  const startedMs = performance.now()
  const { count, wrong, next } = await tryPart(part, (part.share / shares) * minutes * 60_000)
  const took = ((performance.now() - startedMs) / 60_000).toFixed(1)
  nextSeed = Math.max(nextSeed, next)
  const cells = [name, count, `${seed} to ${next - 1}`, took, ...kindsOf(wrong)]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
  for (const one of wrong) process.stderr.write(`${name}: ${one}\n`)
  if (wrong.length > 0) process.exitCode = 1
}
await (await lakes.servers)?.[Symbol.asyncDispose]()
process.stdout.write(`\nA run that adds to this one: --seed ${nextSeed}\n`)
