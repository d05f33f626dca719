// What requests mean and which SQL they become: test/golden/odata/, a file for each feature. `requests` has one in each line,
// with a word before it where something else than its rows is printed. The tables are those of `tables` below.

import { test } from 'uvu'
import { columnType } from '../../src/core/relation.ts'
import { entitySetName } from '../../src/core/names.ts'
import { explainBound } from '../../src/odata/answer/explain.ts'
import type { BoundQuery } from '../../src/odata/bind/bound-request.ts'
import { keysetOf, storedKeyset } from '../../src/odata/bind/keyset.ts'
import { bindRequest } from '../../src/odata/bind/request.ts'
import { showRequest } from '../../src/odata/bind/show.ts'
import { buildEntityModel } from '../../src/odata/edm/entity-model.ts'
import { RequestError } from '../../src/http/request-error.ts'
import { copiesOf } from '../../src/odata/sql/expression.ts'
import { csvTextsSql } from '../../src/odata/sql/csv.ts'
import { deltaTextsSql } from '../../src/odata/sql/delta.ts'
import { entityTextsSql } from '../../src/odata/sql/expand.ts'
import { formatSql } from '../../src/odata/sql/line-breaks.ts'
import { keysetWindow } from '../../src/odata/sql/keyset.ts'
import { rowsSql } from '../../src/odata/sql/query.ts'
import { parseRequest } from '../../src/odata/syntax/parse-request.ts'
import { nameBefore } from '../../src/odata/edm/model.ts'
import { fileRows } from '../../src/store/files/rows.ts'
import { testGolden } from '../support/golden.ts'
import { modelName } from '../support/model-name.ts'

/** By model: the key, and the columns with their types. */
const tables: Readonly<Record<string, readonly [key: readonly string[], columns: object]>> = {
  'shop.customers': [
    ['customer_id'],
    { customer_id: 'INTEGER', name: 'VARCHAR', city: 'VARCHAR', since: 'DATE', vip: 'BOOLEAN' },
  ],
  'shop.orders': [
    ['order_id'],
    {
      order_id: 'BIGINT',
      customer_id: 'INTEGER',
      status: "ENUM('open', 'paid')",
      amount: 'DECIMAL(18,2)',
      weight: 'DOUBLE',
      items: 'INTEGER',
      ordered_at: 'TIMESTAMP',
      due: 'TIME',
      took: 'INTERVAL',
    },
  ],
  'shop.lines': [
    ['order_id', 'line'],
    { order_id: 'BIGINT', line: 'INTEGER', product: 'VARCHAR', price: 'DECIMAL(18,2)' },
  ],
  'shop.people': [
    ['person'],
    {
      person: 'INTEGER',
      tags: 'VARCHAR[]',
      scores: 'INTEGER[]',
      home: 'STRUCT(city VARCHAR, zip INTEGER)',
    },
  ],
}

const model = buildEntityModel(
  {
    id: 'golden',
    publishedAt: new Date(0),
    runId: 'golden',
    relations: Object.entries(tables).map(([name, [key, columns]]) => ({
      model: modelName(name),
      file: `${entitySetName(modelName(name))}.duckdb`,
      bytes: 0,
      rows: 1_000_000,
      key,
      description: null,
      columns: Object.entries(columns as Record<string, string>).map(([column, type]) => ({
        name: column,
        type: columnType(type),
        nullable: !key.includes(column),
      })),
    })),
  },
  { stored: fileRows, signedTinyints: new Map(), clampedTimes: new Map() },
)

const settings = { now: new Date('2024-06-01T12:00:00Z'), version: '4.01', copiesOf } as const
const format = { metadata: 'minimal', ieee754: false } as const
const ALL = { offset: 0, limit: null }

/** What else can be made of the rows of a request, by the word before it. */
const printers: Readonly<Record<string, (query: BoundQuery) => string>> = {
  json: (query) => formatSql(entityTextsSql(query, ALL, format).inline()),
  csv: (query) => formatSql(csvTextsSql(rowsSql(query, ALL), query.output).inline()),
  /** Two rows from the one on whose values are all '1'. */
  page: (query) => {
    const keyset = keysetOf(query)
    if (keyset === null) return 'rows are counted'
    const position = keyset.map(() => '1')
    const window = { offset: 0, limit: 3, keyset: keysetWindow(keyset, position, 2) }
    return formatSql(entityTextsSql(query, window, format).inline())
  },
  delta: (query) => {
    const keyset = storedKeyset(query.set, query.row)!
    const window = keysetWindow(keyset, null, 2)
    const asked = {
      query,
      tableBefore: fileRows.tableOf(nameBefore(query.set.name)),
      keyset,
      window,
      offset: 0,
      version: '4.01',
      removedContext: '#c',
    } as const
    return formatSql(deltaTextsSql(asked, 2, format).inline())
  },
}

/** Nothing in a bound request can be run: whoever has it can compare it, print it or send it. */
function requireData(value: unknown, seen = new Set<unknown>()): void {
  if (seen.has(value)) return
  seen.add(value)
  if (typeof value === 'function') throw new Error('a bound request has a function in it')
  if (typeof value === 'object' && value !== null)
    for (const member of Object.values(value)) requireData(member, seen)
}

function answerTo(line: string): string {
  const [, word = '', target = line] = /^([a-z]+) (.*)$/.exec(line) ?? []
  try {
    const syntax = parseRequest(encodeURI(target), 'http://127.0.0.1/odata/')
    const bound = bindRequest(syntax, model, settings)
    requireData(bound)
    if (word === '') {
      const { bound: shown, statements } = explainBound(bound)
      return [shown, ...statements.map(({ what, sql }) => `${what}:\n${sql}`)].join('\n\n')
    }
    if (!('query' in bound)) throw new Error(`${target} asks for no rows`)
    return `${showRequest(bound)}\n\n${word}:\n${printers[word]!(bound.query)}`
  } catch (error) {
    if (!(error instanceof RequestError)) throw error
    return `${error.status} ${error.code}: ${error.message}`
  }
}

testGolden('odata', ({ files }) => {
  const [requests] = files
  const lines = requests!.content.toString().trimEnd().split('\n')
  return Promise.resolve(lines.map((line) => `${line}\n\n${answerTo(line)}\n`).join('\n\n'))
})

test.run()
