import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  volatileFunctions,
  isVolatile,
  isVolatileWord,
} from '../../../src/compiler/sql/engine-functions.ts'
import { tokenize } from '../../../src/compiler/sql/tokens.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'

test('the list of volatile functions is that of the engine', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT DISTINCT function_name AS name FROM duckdb_functions()
    WHERE internal AND stability <> 'CONSISTENT' ORDER BY name`)
  assert.equal(
    [...volatileFunctions].toSorted(),
    rows.map(({ name }) => name),
  )
})

test("the engine's own macros over volatile functions are volatile", async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(sql`
    SELECT DISTINCT function_name AS name, macro_definition AS definition FROM duckdb_functions()
    WHERE internal AND function_type = 'macro'`)
  assert.ok(rows.length > 50)
  const calls = (definition: string) =>
    tokenize(definition).some(({ kind, text }) => kind === 'word' && isVolatile(text, 0))
  const missing = rows.filter(
    ({ name, definition }) => calls(definition as string) && !isVolatile(name as string, 0),
  )
  assert.equal(
    missing.map(({ name }) => name),
    [],
  )
})

test('words without parentheses are volatile where the engine takes them for a call', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const rows = await connection.rows(
    sql`SELECT DISTINCT function_name AS name FROM duckdb_functions() WHERE internal`,
  )
  const names = [...rows.map(({ name }) => name as string), 'localtime', 'localtimestamp']
  for (const name of names.filter((one) => /^[a-z]\w*$/.test(one) && isVolatile(one, 0))) {
    const isCall = await connection.run(sql`SELECT ${sql.ident(name)}`).then(
      () => true,
      () => false,
    )
    assert.is(isVolatileWord(name), isCall, name)
  }
})

test.run()
