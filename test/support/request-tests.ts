// Requests on tables in memory, each a test of its own that is named after its URL. A group has a title:
//
//   const onShop = requestTests()
//
//   onShop('Q061: null in comparisons', (t) => {
//     t.finds('shop_customers', [['city eq null', '4'], ['null eq null', '1 2 3 4 5']])
//     t.refuses('shop_customers', { 'nope eq null': 'unknown-property' })
//     t.test(async (tables) => { … })
//   })

import * as assert from 'uvu/assert'
import { InMemoryTables } from './in-memory-tables.ts'
import { testsSharing } from './shared.ts'
import type { Table } from './snapshot-files.ts'

/** Pairs, or an object where no key could be taken for an index. */
type Rows<T> = readonly (readonly [string, T])[] | Readonly<Record<string, T>>

/** The status of a refusal, or its code. */
type Refusal = number | string

interface RequestTests {
  /** Filters of a set with the keys that each finds, a space between them. */
  finds(set: string, filters: Rows<string>): void
  /** Filters that are true of every row of a set of one row. */
  holds(set: string, filters: readonly string[]): void
  /** Filters that are false or null. */
  fails(set: string, filters: readonly string[]): void
  /** Targets with the values of the first property in their rows, a space between them. */
  answers(targets: Rows<string>): void
  /** Filters of a set that are refused before any SQL. */
  refuses(set: string, filters: Rows<Refusal>): void
  refusesAll(set: string, refusal: Refusal, filters: readonly string[]): void
  /** Whole targets that are refused. */
  refusesTargets(targets: Rows<Refusal>): void
  /** Filters whose mistake is found only at the rows: the engine refuses, and never answers with a wrong value. */
  raises(set: string, filters: readonly string[]): void
  /** Anything else; its name is the title, or goes after it. */
  test(run: (tables: InMemoryTables) => unknown): void
  test(name: string, run: (tables: InMemoryTables) => unknown): void
}

/** Without tables: the shop. */
export function requestTests(tables?: readonly Table[]) {
  const withTables = testsSharing(() => InMemoryTables.open(tables))
  return (title: string, define: (t: RequestTests) => void): void =>
    define(group(title, withTables))
}

function group(
  title: string,
  withTables: (name: string, run: (tables: InMemoryTables) => unknown) => void,
): RequestTests {
  const each = <T>(
    targets: readonly (readonly [string, T])[],
    check: (tables: InMemoryTables, target: string, expected: T) => unknown,
  ) => {
    for (const [target, expected] of targets)
      withTables(`${title}: ${target}`, (tables) => check(tables, target, expected))
  }
  const filtered = <T>(set: string, filters: Rows<T>) =>
    pairs(filters).map(([filter, expected]) => [`${set}?$filter=${filter}`, expected] as const)
  const answer = async (tables: InMemoryTables, target: string, expected: string) =>
    assert.is(await tables.first(encoded(target)), expected)
  const refuse = (tables: InMemoryTables, target: string, expected: Refusal) => {
    const { status, code, message } = tables.refusal(encoded(target))
    assert.is(typeof expected === 'number' ? status : code, expected, `${code}: ${message}`)
  }
  const all = <T>(filters: readonly string[], expected: T) =>
    filters.map((filter) => [filter, expected] as const)
  return {
    finds: (set, filters) => each(filtered(set, filters), answer),
    holds: (set, filters) => each(filtered(set, all(filters, '1')), answer),
    fails: (set, filters) => each(filtered(set, all(filters, '')), answer),
    answers: (targets) =>
      each(pairs(targets), async (tables, target, expected) =>
        assert.is(await tables.first(target), expected),
      ),
    refuses: (set, filters) => each(filtered(set, filters), refuse),
    refusesAll: (set, refusal, filters) => each(filtered(set, all(filters, refusal)), refuse),
    refusesTargets: (targets) =>
      each(pairs(targets), (tables, target, expected) => {
        const { status, code, message } = tables.refusal(target)
        assert.is(typeof expected === 'number' ? status : code, expected, `${code}: ${message}`)
      }),
    raises: (set, filters) =>
      each(filtered(set, all(filters, null)), async (tables, target) => {
        const failure = await tables.rows(encoded(target)).then(
          () => null,
          (reason: unknown) => reason,
        )
        assert.instance(failure, Error)
      }),
    test: (...args: [unknown, unknown?]) => {
      const [name, run] =
        typeof args[0] === 'string' ? [`${title}: ${args[0]}`, args[1]] : [title, args[0]]
      withTables(name, run as (tables: InMemoryTables) => unknown)
    },
  }
}

const pairs = <T>(rows: Rows<T>): readonly (readonly [string, T])[] =>
  Array.isArray(rows) ? (rows as readonly (readonly [string, T])[]) : Object.entries(rows)

/** The filter as a client encodes it: names of tests show it as one reads it. */
function encoded(target: string): string {
  const [path, filter] = target.split(/(?<=\?\$filter=)(.*)/s)
  return path! + encodeURIComponent(filter ?? '')
}
