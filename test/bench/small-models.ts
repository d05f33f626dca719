// A project of many small models, some of which read others, and a bare script that sends the same SQL to the engine:
//
//   node small-models.js <number of models> <database file>

import { DuckDBInstance } from '@duckdb/node-api'

const SCHEMAS = 10

export const nameOf = (i: number) => ({ schema: `s${i % SCHEMAS}`, table: `m${i}` })

/** Each `change` gives other rows. */
export function queryOf(i: number, change = 0): string {
  const input = nameOf(i - SCHEMAS)
  const from = i < SCHEMAS ? 'range(10) AS r(id)' : `${input.schema}.${input.table}`
  return `SELECT id, id * ${i} + ${change} AS amount, 'name ' || id AS name, id % 2 = 0 AS flag\nFROM ${from}\nWHERE id >= 0`
}

const textOf = (i: number, change = 0) =>
  `-- @kind: table\n-- @description: Model ${i}\n${queryOf(i, change)}\n`

const pathOf = (i: number) => `models/${nameOf(i).schema}/${nameOf(i).table}.sql`

/** Files by path. */
export function smallModels(count: number): Readonly<Record<string, string>> {
  const files = Array.from({ length: count }, (_, i) => [pathOf(i), textOf(i)] as const)
  return { 'eider.yml': 'name: many\n', ...Object.fromEntries(files) }
}

/** The file of one of them, with another constant in it for each `change`. */
export const changedModel = (i: number, change: number) => ({
  path: pathOf(i),
  text: textOf(i, change),
})

const [script = '', count, path] = process.argv.slice(1)
if (script.endsWith('small-models.js') && path !== undefined) {
  const instance = await DuckDBInstance.create(path)
  const connection = await instance.connect()
  for (let i = 0; i < SCHEMAS; i++)
    await connection.run(`CREATE SCHEMA IF NOT EXISTS ${nameOf(i).schema}`)
  for (let i = 0; i < Number(count); i++) {
    const { schema, table } = nameOf(i)
    await connection.run(`CREATE OR REPLACE TABLE ${schema}.${table} AS (${queryOf(i)}\n)`)
  }
  connection.closeSync()
  instance.closeSync()
}
