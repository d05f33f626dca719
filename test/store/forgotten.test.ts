// What is noted of removed rows goes where their table and its readers go, and does not add up.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import type { ModelName } from '../../src/core/names.ts'
import { columnType } from '../../src/core/relation.ts'
import { sql } from '../../src/core/sql.ts'
import { type Connection, Database } from '../../src/duckdb/database.ts'
import { joinedRanges } from '../../src/pipeline/changes/ranges.ts'
import { FORGOTTEN_TABLE, ForgottenValues } from '../../src/store/forgotten.ts'

const TABLE = sql`_eider.forgotten`
const [log, months] = ['Core.log', 'core.months'] as readonly string[] as readonly [
  ModelName,
  ModelName,
]
const named = (name: string) => name as ModelName
const all = (known: ForgottenValues, connection: Connection) =>
  known
    .readAll(connection)
    .then((rows) => rows.map((row) => Object.values(row).join(' ')).toSorted())

for (const deletes of [true, false]) {
  const where = deletes ? 'in a file' : 'in a lake'

  const withNotes = async (
    work: (known: ForgottenValues, connection: Connection) => Promise<void>,
  ) => {
    await using database = await Database.open({ path: ':memory:', threads: 1 })
    await using connection = await database.connect()
    await connection.run(sql`CREATE SCHEMA _eider`)
    await connection.run(FORGOTTEN_TABLE)
    const known = new ForgottenValues({ deletes })
    known.use(TABLE)
    for (const reader of [months, named('core.years')])
      await known.write(connection, { reader, model: log, column: 'Ts' }, [
        { low: '1', high: '2' },
        { low: '5', high: '6' },
      ])
    await known.write(connection, { reader: named('core.all'), model: months, column: 'd' }, [
      { low: '1', high: '9' },
    ])
    await work(known, connection)
  }

  test(`${where}: names of tables, of readers and of columns change`, () =>
    withNotes(async (known, connection) => {
      await known.rename(connection, log, named('core.Logs'))
      await known.rename(connection, months, named('core.m'))
      await known.renameColumn(connection, named('core.logs'), { from: 'ts', to: 'At' })
      assert.equal(await all(known, connection), [
        'core.all core.m d 1 9',
        'core.m core.logs at 1 2',
        'core.m core.logs at 5 6',
        'core.years core.logs at 1 2',
        'core.years core.logs at 5 6',
      ])
    }))

  test(`${where}: they end with the table, and with the rows of a reader`, () =>
    withNotes(async (known, connection) => {
      await known.clearReader(connection, months)
      assert.equal(await all(known, connection), [
        'core.all core.months d 1 9',
        'core.years core.log ts 1 2',
        'core.years core.log ts 5 6',
      ])
      await known.clearTable(connection, log)
      assert.equal(await all(known, connection), ['core.all core.months d 1 9'])
      await known.drop(connection, months)
      assert.equal(await all(known, connection), [])
      await known.prune(connection)
      assert.equal(await connection.rows(sql`FROM ${TABLE}`), [])
    }))

  test(`${where}: what was made again has the name of its reader and of its column, and ends alone`, () =>
    withNotes(async (known, connection) => {
      const remade = () =>
        connection.texts(known.remadeOf(named('core.m'), 'Day')).then((rows) => rows.length)
      await known.writeRemade(connection, months, 'd', [{ low: '1', high: '9' }])
      await known.rename(connection, months, named('core.m'))
      await known.renameColumn(connection, named('core.m'), { from: 'd', to: 'day' })
      assert.is(await remade(), 1)
      assert.ok(await known.hasRemade(connection, named('core.m')))
      const others = (await all(known, connection)).filter((row) => !/^core\.m {2}day/.test(row))
      await known.endRemade(connection, named('core.m'))
      assert.is(await remade(), 0)
      assert.not(await known.hasRemade(connection, named('core.m')))
      assert.equal(await all(known, connection), others)
      assert.ok(await known.hasReader(connection, named('core.m')))
      await known.clearReader(connection, named('core.m'))
      assert.not(await known.hasReader(connection, named('core.m')))
    }))

  test(`${where}: what is known already is not written again`, () =>
    withNotes(async (known, connection) => {
      const rows = () => connection.row(sql`SELECT count(*)::INTEGER AS n FROM ${TABLE}`)
      const before = await rows()
      const one = { reader: months, model: log, column: 'ts' }
      await known.write(connection, one, [
        { low: '5', high: '6' },
        { low: '1', high: '2' },
      ])
      const last = sql`SELECT max(seq)::INTEGER AS seq FROM ${TABLE}`
      assert.equal(await rows(), before)
      assert.equal(await connection.row(last), { seq: 3 })
      await known.write(connection, one, [{ low: '1', high: '6' }])
      assert.equal(await connection.row(last), { seq: 4 })
    }))

  test(`${where}: whether there are any is asked once, until one is written`, () =>
    withNotes(async (known, connection) => {
      let asked = 0
      const none = { row: () => Promise.resolve((asked++, null)) } as unknown as Connection
      known.use(TABLE)
      for (let i = 0; i < 3; i++) assert.ok(await known.isEmpty(none))
      assert.is(asked, 1)
      const one = { reader: months, model: log, column: 'ts' }
      await known.write(connection, one, [{ low: '7', high: '8' }])
      assert.not(await known.isEmpty(none))
      assert.is(asked, 1)
      known.use(null)
      assert.ok(await known.isEmpty(none))
      assert.is(asked, 1)
    }))

  test(`${where}: a move takes them along`, () =>
    withNotes(async (known, connection) => {
      const before = await all(known, connection)
      const rows = await known.readAll(connection)
      await known.drop(connection, log)
      await known.drop(connection, months)
      await known.adopt(connection, rows)
      assert.equal(await all(known, connection), before)
    }))
}

test('where there is no table nothing is known, and nothing fails', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const known = new ForgottenValues({ deletes: true })
  const one = { reader: months, model: log, column: 'ts' }
  await known.write(connection, one, [{ low: '1', high: '2' }])
  await known.rename(connection, log, months)
  await known.renameColumn(connection, log, { from: 'a', to: 'b' })
  await known.drop(connection, log)
  assert.equal(await connection.rows(known.of(one)), [])
  assert.equal(await known.readAll(connection), [])
  assert.is(await known.prune(connection), 0)
})

test('days and growing numbers that follow each other, are one row', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  await connection.run(sql`CREATE SCHEMA _eider`)
  await connection.run(FORGOTTEN_TABLE)
  const known = new ForgottenValues({ deletes: true })
  known.use(TABLE)
  const values = {
    TIMESTAMP: (day: number) => {
      const date = new Date(Date.UTC(2016, 0, 1 + day)).toISOString().slice(0, 10)
      return { low: `${date} 00:07:11`, high: `${date} 23:41:00` }
    },
    BIGINT: (day: number) => ({ low: `${day * 500 + 1}`, high: `${day * 500 + 500}` }),
  } as const
  for (const [name, valueOf] of Object.entries(values)) {
    const one = { reader: months, model: log, column: name }
    const days = 100
    for (let day = 0; day < days; day++) {
      const { low, high } = valueOf(day)
      const next = sql`SELECT ${sql.value(low)}, ${sql.value(high)}`
      const query = sql`${known.of(one)} UNION ALL ${next}`
      await known.write(connection, one, await joinedRanges(connection, query, columnType(name)))
    }
    const found = await connection.rows(known.of(one))
    assert.equal(found, [{ low: valueOf(0).low, high: valueOf(days - 1).high }])
  }
  const rows = await connection.row(sql`SELECT count(*)::INTEGER AS n FROM ${TABLE}`)
  assert.is(rows?.['n'], 2)
})

test.run()
