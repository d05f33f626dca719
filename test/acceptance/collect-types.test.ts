// Random values of every type of the engine, plain and inside of each nested type, posted to the daemon, flushed by the
// run and read from the warehouse, where they are what was sent.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../src/core/sql.ts'
import { seededRandom } from '../support/seeded-random.ts'
import { type Workspace, workspace } from '../support/workspace.ts'
import { startDaemon, queryWarehouse, runBeside } from '../support/daemon-process.ts'
import { randomValues } from '../support/random-values.ts'

const SEED = 20_261_122
const EVENTS = 40

interface Place {
  readonly column: string
  readonly type: string
  /** A value of the column with `value`, which is JSON, in it. */
  readonly json: (value: string) => string
  /** The value that is in it. */
  readonly shown: Sql
}

const BESIDE = '\\"\'\n, {é}'

/** Columns with values of `type`, plain and inside of others. */
const placesOf = (type: string): readonly Place[] => [
  { column: 'p', type, json: (value) => value, shown: sql`p` },
  { column: 'l', type: `${type}[]`, json: (value) => `[null,${value}]`, shown: sql`l[2]` },
  { column: 'a', type: `${type}[2]`, json: (value) => `[${value},null]`, shown: sql`a[1]` },
  {
    column: 's',
    type: `STRUCT("a ""b" ${type}, beside VARCHAR)[]`,
    json: (value) => `[{"beside":${JSON.stringify(BESIDE)}, "a \\"b":${value}}]`,
    shown: sql`s[1]['a "b']`,
  },
  {
    column: 'm',
    type: `MAP(VARCHAR, ${type}[])`,
    json: (value) => `{"k":[${value}]}`,
    shown: sql`map_values(m)[1][1]`,
  },
  {
    column: 'u',
    type: `UNION(n INTEGER, v ${type})`,
    json: (value) => `{"v":${value}}`,
    shown: sql`u.v`,
  },
]

const keyPlace = (type: string): Place => ({
  column: 'k',
  type: `MAP(${type}, INTEGER)`,
  json: (value) => `{${value}:1}`,
  shown: sql`map_keys(k)[1]`,
})

const tables = Object.entries(randomValues).map(([type, { next, isSame }], i) => {
  const random = seededRandom(SEED + i)
  const values = Array.from({ length: EVENTS }, () => next(random))
  return { type, values, isSame, name: `t${i}`, places: [...placesOf(type), keyPlace(type)] }
})
type Table = (typeof tables)[number]

/** A key is text in its plain form, which is how the engine shows it but for the 0 of .5. */
const jsonIn = ({ column, json }: Place, value: Table['values'][number]) =>
  json(column === 'k' ? JSON.stringify(value.text.replace(/^-?(?=\.)/, '$&0')) : value.json)

async function sendAll(url: string, { type, name, values, places }: Table): Promise<void> {
  const lines = values.map((value, id) => {
    const members = places.map((place) => `,"${place.column}":${jsonIn(place, value)}`)
    return `{"id":${id}${members.join('')}}\n`
  })
  const answer = await fetch(`${url}/collect/raw/${name}/batch`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body: lines.join(''),
  })
  assert.is(answer.status, 202, `${type}: ${await answer.text()}`)
}

async function compare(space: Workspace, table: Table): Promise<void> {
  const { type, name, values, places, isSame = Object.is } = table
  const shown = places.map(
    ({ column, shown: value }) => sql`${value}::VARCHAR AS ${sql.ident(column)}`,
  )
  const rows = await queryWarehouse(
    space,
    sql`SELECT ${sql.join(shown)}, s[1].beside AS beside FROM ${sql.ident('raw', name)} ORDER BY id`,
  )
  assert.is(rows.length, EVENTS, type)
  for (const [id, { text, json }] of values.entries()) {
    assert.is(rows[id]!['beside'], BESIDE, `${type}, ${json}`)
    for (const { column, type: inType } of places) {
      const expected = type === 'JSON' && column === 'k' ? JSON.stringify(text) : text
      const got = rows[id]![column] as string
      assert.ok(isSame(got, expected), `${inType}: sent ${json}, expected ${expected}, got ${got}`)
    }
  }
}

test(`${EVENTS} random values of each type are in the table as they were sent`, async () => {
  await using space = await workspace({ 'eider.yml': 'name: types\n' })
  for (const { name, places } of tables) {
    const columns = places.map(({ column, type }) => `, ${column} ${type}`)
    await space.write(
      `models/raw/${name}.sql`,
      `-- @kind: events\nid INTEGER NOT NULL${columns.join('')}\n`,
    )
  }
  const daemon = await startDaemon(space, '--quiet')
  for (const table of tables) await sendAll(daemon.url, table)
  await runBeside(space, daemon)
  assert.is(await daemon.stop(), 0)
  assert.equal(await queryWarehouse(space, sql`SELECT * FROM _eider.rejected_events`), [])
  for (const table of tables) await compare(space, table)
})

test.run()
