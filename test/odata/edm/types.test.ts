import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { columnType } from '../../../src/core/relation.ts'
import { sql } from '../../../src/core/sql.ts'
import { Database } from '../../../src/duckdb/database.ts'
import { edmTypeOf } from '../../../src/odata/edm/types.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'

const type = (text: string) => {
  const { name, precision, scale } = edmTypeOf(columnType(text), { negative: false, typeName: 't' })
  return [name, precision, scale].filter((part) => part !== null).join(' ')
}

test('Q017 to Q028: each plain type of the engine has its OData type', () => {
  const expected = {
    VARCHAR: 'Edm.String',
    TINYINT: 'Edm.Byte',
    SMALLINT: 'Edm.Int16',
    INTEGER: 'Edm.Int32',
    BIGINT: 'Edm.Int64',
    DOUBLE: 'Edm.Double',
    FLOAT: 'Edm.Single',
    'DECIMAL(18,4)': 'Edm.Decimal 18 4',
    'DECIMAL(38,0)': 'Edm.Decimal 38 0',
    BOOLEAN: 'Edm.Boolean',
    DATE: 'Edm.Date',
    TIMESTAMP: 'Edm.DateTimeOffset 6',
  }
  for (const [engine, edm] of Object.entries(expected)) assert.is(type(engine), edm, engine)
})

test('Q133: other types have the nearest OData type, or are served as text', () => {
  const expected = {
    UUID: 'Edm.Guid',
    TIME: 'Edm.TimeOfDay 6',
    'TIMESTAMP WITH TIME ZONE': 'Edm.DateTimeOffset 6',
    TIMESTAMP_NS: 'Edm.DateTimeOffset 6',
    BLOB: 'Edm.Binary',
    INTERVAL: 'Edm.Duration 6',
    UTINYINT: 'Edm.Int16',
    USMALLINT: 'Edm.Int32',
    UINTEGER: 'Edm.Int64',
    UBIGINT: 'Edm.Decimal 20 0',
    HUGEINT: 'Edm.Decimal 39 0',
    UHUGEINT: 'Edm.Decimal 39 0',
    "ENUM('a', 'it''s')": 'Edm.String',
    JSON: 'Edm.String',
    BIT: 'Edm.String',
    'INTEGER[]': 'Collection(Edm.Int32)',
    'UTINYINT[3]': 'Collection(Edm.Int16)',
    'TINYINT[]': 'Collection(Edm.SByte)',
    'DECIMAL(18,4)[]': 'Collection(Edm.Decimal)',
    "ENUM('a', 'b')[]": 'Collection(Edm.String)',
    'INTEGER[][]': 'Edm.String',
    'MAP(VARCHAR, INTEGER)[]': 'Edm.String',
    'STRUCT(a INTEGER)': 't',
    'STRUCT(a INTEGER[], b STRUCT(c DATE))[]': 'Collection(t)',
    'STRUCT("a b" INTEGER)': 'Edm.String',
    'STRUCT("a b" INTEGER)[]': 'Edm.String',
    'UNION(a INTEGER, b VARCHAR)': 'Edm.String',
    'MAP(VARCHAR, INTEGER)': 'Edm.String',
    'TIME WITH TIME ZONE': 'Edm.String',
  }
  for (const [engine, edm] of Object.entries(expected)) assert.is(type(engine), edm, engine)
})

test('members of an ENUM are known', () => {
  assert.equal(
    edmTypeOf(columnType("ENUM('a', 'it''s', 'c,d')"), { negative: false, typeName: 't' }).members,
    ['a', "it's", 'c,d'],
  )
})

test('a column of any type is read as its engine type says', async () => {
  await using database = await Database.open({ path: ':memory:', threads: 1 })
  await using connection = await database.connect()
  const names = await connection.rows(
    sql`SELECT DISTINCT logical_type AS t FROM duckdb_types() WHERE type_size > 0 AND logical_type NOT IN ('NULL', 'ENUM', 'DECIMAL', 'VARIANT', 'GEOMETRY') ORDER BY 1`,
  )
  const simple = names
    .map((row) => row['t'] as string)
    .filter(
      (name) =>
        !/LIST|STRUCT|MAP|UNION|ARRAY|ANY|LAMBDA|TYPE|POINTER|TABLE|LITERAL|INVALID|UNKNOWN|UNBOUND|SQLNULL|TUPLE/.test(
          name,
        ),
    )
  assert.ok(simple.length > 20, simple.join())
  const engineTypes = [
    ...simple,
    'DECIMAL(5,2)',
    "ENUM('a')",
    'INTEGER[]',
    'STRUCT(a INTEGER)',
    'MAP(VARCHAR, INTEGER)',
    'JSON',
  ]
  const columns = engineTypes.map(
    (name, i) => sql`CAST(NULL AS ${sql.type(columnType(name))}) AS ${sql.ident(`c${i}`)}`,
  )
  await using fixture = await InMemoryTables.open([
    { model: 't.all', key: ['id'], rows: sql`SELECT 1 AS id, ${sql.join(columns)}` },
  ])
  for (const [i, { name, type: edmType }] of fixture.query('t_all').output.entries()) {
    const [row] = await fixture.run(
      sql`SELECT typeof(${sql.ident(name)}) AS type FROM (${fixture.sql('t_all')})`,
    )
    assert.is(row!['type'], edmType.engine.replaceAll('"', ''), i === 0 ? 'id' : engineTypes[i - 1])
  }
  for (const { name, type: edmType } of fixture.query('t_all').output.slice(1)) {
    const isNull = edmType.kind === 'collection' ? `${name}/$count eq 0` : `${name} eq null`
    assert.is(await fixture.ids('t_all', isNull), '1', name)
  }
})

test.run()
