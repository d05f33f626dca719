// Random expressions by the service and by the reference evaluator: the rows that $filter keeps and the values that
// $compute gives must be the same. EIDER_REFERENCE_SECONDS=600 works on for that long; EIDER_REFERENCE_SEED begins
// elsewhere.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { serve, type Served } from '../../support/odata-service.ts'
import { namesOfParts, namesOfRows, parts, rows, tables } from './data.ts'
import type { Expression, Names, Row, Type } from './expression.ts'
import { Generator } from './generator.ts'
import { daysOf, printClock, printDay, usOfDay } from './times.ts'
import {
  Clock,
  compare,
  Day,
  Duration,
  exact,
  Failure,
  Instant,
  printExact,
  toDouble,
  type Value,
  type Exact,
} from './values.ts'

const SEED = Number(process.env['EIDER_REFERENCE_SEED'] ?? 20_261_120)
const SECONDS = Number(process.env['EIDER_REFERENCE_SECONDS'] ?? 8)
/** However slow the machine is. */
const LEAST = 150
/** In the suite no more than these, so that a fast machine does the same. */
const MOST = process.env['EIDER_REFERENCE_SECONDS'] === undefined ? 2_500 : Number.POSITIVE_INFINITY

interface Set {
  readonly name: string
  readonly key: string
  readonly rows: readonly Row[]
  readonly names: Names
}

const sets: readonly Set[] = [
  { name: 't_rows', key: 'row_id', rows, names: namesOfRows },
  { name: 't_parts', key: 'part_id', rows: parts, names: namesOfParts },
]

const types: readonly Type[] = [
  'bool',
  'bool',
  'bool',
  'int',
  'decimal',
  'double',
  'text',
  'day',
  'instant',
  'clock',
  'duration',
]

/** By row; null when a value somewhere in the expression cannot be had, which the service answers with 400. */
function referenceValues({ value }: Expression, set: Set): readonly Value[] | null {
  try {
    return set.rows.map((row) => value({ row, inner: null }))
  } catch (error) {
    if (error instanceof Failure) return null
    throw error
  }
}

function printed(value: Value): string {
  if (value === null || typeof value !== 'object') return JSON.stringify(value) ?? String(value)
  if (value instanceof Day) return printDay(value.days)
  if (value instanceof Instant) return `${printDay(daysOf(value))}T${printClock(usOfDay(value))}Z`
  if (value instanceof Clock) return printClock(value.us)
  return value instanceof Duration ? `${value.us} us` : printExact(value as Exact)
}

type Found = string | number | boolean | null | undefined

function isSame(expected: Value, found: Found): boolean {
  if (expected === null || found === null) return expected === found
  if (typeof expected === 'number') {
    const number = Number(String(found).replace('INF', 'Infinity'))
    if (Object.is(expected, number) || expected === number) return true
    return Math.abs(expected - number) <= 1e-12 * Math.max(Math.abs(expected), Math.abs(number))
  }
  if (typeof expected === 'boolean') return expected === found
  if (typeof found !== 'string' && typeof found !== 'number') return false
  if (expected instanceof Duration) return microseconds(String(found)) === expected.us
  if (typeof expected === 'object' && 'units' in expected) {
    const text = String(found)
    // A case that has a Double in it gives Doubles.
    if (!/^-?\d+(\.\d+)?$/.test(text)) return Number(text) === toDouble(expected)
    return compare('eq', expected, exact(text))
  }
  return (typeof expected === 'string' ? expected : printed(expected)) === String(found)
}

function microseconds(text: string): bigint | null {
  const match = /^(-?)P(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text)
  if (match === null) return null
  const [, sign, days = '0', hours = '0', minutes = '0', seconds = '0'] = match
  const { units, scale } = exact(seconds)
  const whole = ((BigInt(days) * 24n + BigInt(hours)) * 60n + BigInt(minutes)) * 60n
  const us = whole * 1_000_000n + units * 10n ** BigInt(6 - scale)
  return sign === '-' ? -us : us
}

const headers = { Accept: 'application/json;IEEE754Compatible=true' }

/** What is wrong; null when nothing is. `refused`: 400 since a value cannot be had. */
async function fault(served: Served, set: Set, expression: Expression): Promise<string | null> {
  const expected = referenceValues(expression, set)
  const option = encodeURIComponent(expression.text)
  const asks = [`$select=${set.key},out&$compute=${option}%20as%20out`]
  if (expression.type === 'bool') asks.push(`$select=${set.key}&$filter=${option}`)
  for (const ask of asks) {
    const answer = await served.get(`${set.name}?${ask}`, headers)
    const where = `${set.name}?${decodeURIComponent(ask)}`
    if (answer.status === 400 && expected === null) {
      if (answer.json.error.code === 'arithmetic-error') continue
    }
    if (answer.status !== 200) return `${where}: ${answer.status} ${answer.text}`
    // The engine need not look at a part of an expression on which the value does not depend.
    if (expected === null) continue
    const found = answer.json.value as readonly Readonly<Record<string, Found>>[]
    if (ask.includes('$filter')) {
      const kept = set.rows
        .filter((_, i) => expected[i] === true)
        .map((row) => printed(row[set.key]!))
      const ids = found.map((row) => String(row[set.key]))
      if (kept.join() !== ids.join()) return `${where}: keeps ${ids.join()}, not ${kept.join()}`
      continue
    }
    for (const [i, value] of expected.entries())
      if (!isSame(value, found[i]?.['out']))
        return `${where}: row ${i + 1} has ${JSON.stringify(found[i]?.['out'])}, not ${printed(value)}`
  }
  return null
}

test(`random expressions have the values of the reference (seed ${SEED})`, async () => {
  await using resources = new Resources()
  const served = await serve(resources, tables)
  const generator = new Generator(seededRandom(SEED))
  const faults: string[] = []
  let compared = 0
  const endAt = performance.now() + SECONDS * 1000
  for (let n = 0; n < MOST && (n < LEAST || performance.now() < endAt) && faults.length < 20; n++) {
    const set = sets[n % 4 === 3 ? 1 : 0]!
    const expression = generator.expression(
      generator.pick(types),
      set.names,
      1 + generator.below(4),
    )
    if (expression.isNull) continue
    const problem = await fault(served, set, expression)
    if (problem !== null) faults.push(problem)
    if (referenceValues(expression, set) !== null) compared++
  }
  assert.ok(faults.length === 0, faults.join('\n'))
  assert.ok(compared > 50, `${compared} expressions were compared`)
})

test.run()
