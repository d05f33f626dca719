import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { functionNames } from '../../src/odata/bind/expression/functions.ts'
import { precedenceOf } from '../../src/odata/syntax/precedence.ts'
import {
  servedTransformations,
  unservedTransformations,
} from '../../src/odata/syntax/transformations.ts'
import { repository } from '../support/workspace.ts'
import { optionName } from '../../src/odata/syntax/option-names.ts'

const pageOf = (name: string) => readFileSync(join(repository, 'docs/odata', name), 'utf8')

/** The words in code of the first column, or of the second where the first is a topic, for rows of a table. */
function tableOf(name: string, firstHeading: string): readonly (readonly string[])[] {
  const page = pageOf(name)
  const start = page.indexOf(`| ${firstHeading} `)
  assert.ok(start >= 0, firstHeading)
  const table = page.slice(start, page.indexOf('\n\n', start))
  return table
    .split('\n')
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .slice(1, 3)
        .map((cell) => cell.trim()),
    )
}

const wordsIn = (cell: string) =>
  [...cell.matchAll(/`([^`]+)`/g)].flatMap(([, code]) => code!.split(' '))

test('the functions and operators of docs/odata/queries.md are those of the code', () => {
  const rows = tableOf('queries.md', 'in expressions')
  const served = rows.filter(([, what]) => what !== '501')
  const documented = new Set(
    served.flatMap(([, what]) => wordsIn(what!)).map((word) => word.toLowerCase()),
  )
  const syntax = ['not', 'case']
  const known = [...functionNames, ...Object.keys(precedenceOf), ...syntax]
  assert.equal([...documented].toSorted(), [...new Set([...known, 'has'])].toSorted())
})

test('the options of docs/odata/queries.md are known, and those with 501 are not served', () => {
  for (const [names, what] of tableOf('queries.md', 'feature')) {
    const options = wordsIn(names!).flatMap((word) => /^\$[a-z]+/.exec(word)?.[0] ?? [])
    for (const option of options.filter((name) => !RESOURCES.includes(name))) {
      if (what === '501') assert.throws(() => optionName(option), /not supported/, option)
      else assert.is(optionName(option), option.slice(1), option)
    }
  }
})

/** Names of path segments, which share the `$` with options. */
const RESOURCES: readonly string[] = ['$batch', '$crossjoin', '$all', '$each']

/** The numbers of a row of the table of limits, without their commas. */
function numbersOf(row: string): readonly number[] {
  const [, cell] = pageOf('operating.md').split(`\n| ${row} `)
  assert.ok(cell !== undefined, `docs/odata/operating.md has no limit "${row}"`)
  const [line = ''] = cell.split('\n')
  return [...line.replaceAll(',', '').matchAll(/\d+/g)].map(([digits]) => Number(digits))
}

test('the table of limits has the numbers of the code', () => {
  const KiB = 1024
  assert.is(numbersOf('time of a query in DuckDB')[0], limits.queryTimeoutMs / 1000)
  const { runningQueries, waitingQueries, largeQueriesPerProcessor, largeQueries } = limits
  assert.equal(numbersOf('queries running, queries waiting'), [runningQueries, waitingQueries, 503])
  assert.equal(numbersOf('large queries running'), [
    largeQueriesPerProcessor,
    largeQueries,
    runningQueries,
  ])
  assert.is(numbersOf('URL')[0], limits.urlBytes / KiB)
  const rows = ['`$filter`, aliases', '`$apply`,', '`$compute`,', '`$orderby`']
  assert.equal(
    rows.map((row) => numbersOf(row)[0]),
    [...new Set(Object.values(limits.optionLengths))].toSorted((a, b) => b - a),
  )
  assert.is(numbersOf('nesting of an expression')[0], limits.expressionDepth)
  assert.equal(numbersOf('cached answers'), [
    limits.cacheBytes / KiB / KiB,
    limits.cachedAnswerBytes / KiB / KiB,
  ])
  assert.is(numbersOf('body of a batch')[0], limits.batchBodyBytes / KiB / KiB)
})

test('the transformations of docs/odata/aggregation.md are those of the code', () => {
  const names = (isServed: boolean) =>
    tableOf('aggregation.md', 'transformation')
      .filter(([, what]) => (what !== '501') === isServed)
      .flatMap(([cell]) => [...cell!.matchAll(/`(\w+)[^`]*`/g)].map(([, name]) => name!))
  const documented = names(true).flatMap((name) =>
    name === 'bottom' ? ['bottomcount', 'bottomsum', 'bottompercent'] : [name],
  )
  assert.equal([...new Set(documented)].toSorted(), servedTransformations)
  assert.equal(names(false).toSorted(), unservedTransformations)
})

test.run()
