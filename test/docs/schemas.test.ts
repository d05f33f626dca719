import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository, workspace } from '../support/workspace.ts'

/** The part of JSON Schema that docs/schemas uses. */
interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly items?: Schema
}

const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(repository, 'docs', 'schemas', `${name}.json`), 'utf8')) as Schema

/** What is wrong with a value, also members that the schema does not describe. */
function mistakes(schema: Schema, value: unknown, at = '$'): readonly string[] {
  const types = schema.type === undefined ? [] : [schema.type].flat()
  if (types.length > 0 && !types.some((type) => isOf(type, value)))
    return [`${at} is no ${types.join()}`]
  if ('const' in schema && schema.const !== value) return [`${at} is not ${String(schema.const)}`]
  if (schema.enum !== undefined && !schema.enum.includes(value)) return [`${at} is not in the list`]
  if (schema.minimum !== undefined && (value as number) < schema.minimum) return [`${at} is small`]
  if (Array.isArray(value))
    return value.flatMap((item, i) => mistakes(schema.items ?? {}, item, `${at}[${i}]`))
  if (typeof value !== 'object' || value === null) return []
  const members = value as Readonly<Record<string, unknown>>
  const missing = (schema.required ?? []).filter((name) => !(name in members))
  return [
    ...missing.map((name) => `${at}.${name} is missing`),
    ...Object.entries(members).flatMap(([name, member]) => {
      const known = schema.properties?.[name]
      return known === undefined
        ? [`${at}.${name} is not described`]
        : mistakes(known, member, `${at}.${name}`)
    }),
  ]
}

function isOf(type: string, value: unknown): boolean {
  if (type === 'null') return value === null
  if (type === 'array') return Array.isArray(value)
  if (type === 'integer') return Number.isInteger(value)
  return type === typeof value && value !== null && !Array.isArray(value)
}

test('artifacts of good and failed runs are as their schemas say', async () => {
  await using space = await workspace({
    'eider.yml': 'name: t\n',
    'models/raw/e.sql': '-- @kind: events\nid bigint\n',
    'models/a/good.sql': '-- @tags: x\n-- @expose id\nselect 1 as id\n',
    'models/a/bad.sql': "select error('no') as id\n",
    'models/a/view.sql': '-- @kind: view\nselect id from a.bad\n',
    'seeds/ref/s.csv': 'a,b\n1,2\n',
  })
  const check = () => {
    for (const name of ['manifest', 'run_results']) {
      const artifact: unknown = JSON.parse(
        readFileSync(space.path('target', `${name}.json`), 'utf8'),
      )
      assert.equal(mistakes(schemaOf(name), artifact), [], name)
    }
  }
  await space.ok(['run'], { exitCode: 1 })
  check()
  await space.write('models/a/bad.sql', 'select 2 as id\n')
  await space.ok(['run'])
  check()
  assert.ok(mistakes(schemaOf('run_results'), { schema_version: 2 }).length > 3)
})

test.run()
