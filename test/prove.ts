// npm run prove [-- --minutes 60] [--seed N] [--part WORD]
//
// Tries to lose, double or falsify something for so long, and prints a table of what was tried and what came of it: long
// forms of tests (CONTRIBUTING.md), one after the other, each with its share of the time. Exits with 1 when anything is wrong.
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
import { missingLakeParts } from './support/lake/parts.ts'

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
  /** A piece of the work. */
  readonly next: (first: number, tried: Tried, ms: number) => Promise<void>
  /** Why it cannot be tried here. */
  readonly missing?: readonly string[]
}

const LIVES_AT_ONCE = 20
const CUTS_AT_ONCE = 20
const SHAPES_AT_ONCE = 10
const LAKE_KILLS_AT_ONCE = 40
const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    part: { type: 'string', default: '' },
  },
})
const minutes = Number(values.minutes)
const seed = Number(values.seed)

const parts: readonly Part[] = [
  { name: 'simulated lives', share: 0.3, most: 10_000, seeds: LIVES_AT_ONCE, next: nextLives },
  { name: 'power cuts under runs', share: 0.2, most: 2_000, seeds: 1, next: nextCuts },
  { name: 'kills of daemon and run', share: 0.15, most: 2_000, seeds: 1, next: nextKills },
  {
    name: 'kills on a lake',
    share: 0.15,
    most: 500,
    seeds: 1,
    next: nextLakeKills,
    missing: missingLakeParts(),
  },
  {
    name: 'shapes of configuration',
    share: 0.05,
    most: 300,
    seeds: SHAPES_AT_ONCE,
    next: nextShapes,
  },
  { name: 'hostile requests', share: 0.15, most: 1_000_000, seeds: 1, next: nextRequests },
]

async function nextLives(first: number, tried: Tried): Promise<void> {
  const lived = await live({ first, last: first + LIVES_AT_ONCE - 1 })
  tried.count += lived.length
  for (const { seed: of, wrong } of lived)
    if (wrong !== null) tried.wrong.push(`seed ${of}: ${wrong}`)
}

async function nextCuts(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_POWER_CUTS: `${CUTS_AT_ONCE}`, EIDER_POWER_CUTS_SEED: `${first}` }
  await runTest('crash/engine-power-cuts', env, tried, /(\d+) cuts/)
}

async function nextKills(first: number, tried: Tried): Promise<void> {
  await runTest('crash/random-kills', { EIDER_KILLS_SEED: `${first}` }, tried, /(\d+) kills/)
}

async function nextLakeKills(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_LAKE_KILLS: `${LAKE_KILLS_AT_ONCE}`, EIDER_KILLS_SEED: `${first}` }
  await runTest('lake/random-kills', env, tried, /(\d+) kills/)
}

async function nextShapes(first: number, tried: Tried): Promise<void> {
  const env = { EIDER_CONFIGURATIONS: `${SHAPES_AT_ONCE}`, EIDER_CONFIGURATIONS_SEED: `${first}` }
  await runTest('commands/odd-configuration', env, tried, /(\d+) shapes/)
}

/** All of its time at once. */
async function nextRequests(first: number, tried: Tried, ms: number): Promise<void> {
  const env = { EIDER_FUZZ_SECONDS: `${Math.ceil(ms / 1000)}`, EIDER_FUZZ_SEED: `${first}` }
  await runTest('odata/http/http-fuzz', env, tried, /(\d+) requests/)
}

/** A file of tests, in a process of its own, which says how many it has tried. */
async function runTest(
  name: string,
  more: Readonly<Record<string, string>>,
  tried: Tried,
  counted: RegExp,
): Promise<void> {
  const path = fileURLToPath(new URL(`./${name}.test.js`, import.meta.url))
  const env = { ...process.env, ...more }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'pipe'] })
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve))
  const [printed, problems] = await Promise.all([text(child.stdout), text(child.stderr)])
  const [, count] = counted.exec(printed) ?? []
  tried.count += Number(count ?? 0)
  if ((await ended) !== 0 || count === undefined)
    tried.wrong.push(`${name} ${JSON.stringify(more)}: ${printed}${problems}`)
}

/** `next`: the first seed that was not tried. */
async function tryPart(part: Part, ms: number): Promise<Tried & { readonly next: number }> {
  const tried: Tried = { count: 0, wrong: [] }
  const endAtMs = performance.now() + ms
  let next = seed
  for (; tried.count < part.most && performance.now() < endAtMs; next += part.seeds)
    await part
      .next(next, tried, ms)
      .catch((error: unknown) => tried.wrong.push(`seed ${next}: ${String(error)}`))
  return { ...tried, next }
}

/** What is lost, doubled or otherwise wrong is told apart by the words of the tests. */
function kindsOf(wrong: readonly string[]): readonly number[] {
  const count = (pattern: RegExp) => wrong.filter((one) => pattern.test(one)).length
  const [lost, doubled] = [count(/lost|missing/), count(/twice|doubled/)]
  const stuck = count(/no peace|ended early|is stuck|ended by SIGKILL/)
  return [lost, doubled, stuck, Math.max(0, wrong.length - lost - doubled - stuck)]
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim()
const memoryGiB = Math.round(os.totalmem() / 2 ** 30)
process.stdout.write(
  `${new Date().toISOString().slice(0, 10)}, commit ${commit}, ${os.availableParallelism()} processors, ${memoryGiB} GiB, ` +
    `Node ${process.versions.node}, DuckDB ${duckdbVersion()}, ${minutes} minutes, seed ${seed}\n\n` +
    '| what | tried | seeds | lost | doubled | stuck | otherwise wrong |\n| --- | --- | --- | --- | --- | --- | --- |\n',
)
const asked = parts.filter(({ name }) => name.includes(values.part))
const shares = asked.reduce((sum, { share }) => sum + share, 0)
let nextSeed = seed
for (const part of asked) {
  const { name, missing = [] } = part
  if (missing.length > 0) {
    process.stdout.write(`| ${name} | skipped: ${missing.join('; ')} | | | | | |\n`)
    continue
  }
  const { count, wrong, next } = await tryPart(part, (part.share / shares) * minutes * 60_000)
  nextSeed = Math.max(nextSeed, next)
  const cells = [name, count, `${seed} to ${next - 1}`, ...kindsOf(wrong)]
  process.stdout.write(`| ${cells.join(' | ')} |\n`)
  for (const one of wrong) process.stderr.write(`${name}: ${one}\n`)
  if (wrong.length > 0) process.exitCode = 1
}
process.stdout.write(`\nA run that adds to this one: --seed ${nextSeed}\n`)
