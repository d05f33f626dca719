// What is wrong with a value by the part of JSON Schema that docs/schemas uses.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { repository } from './workspace.ts'

export interface Schema {
  readonly type?: string | readonly string[]
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
  /** Of members whose names are data. */
  readonly additionalProperties?: Schema | true
  readonly items?: Schema
  readonly $defs?: Readonly<Record<string, Schema>>
}

export const schemaOf = (name: string) =>
  JSON.parse(readFileSync(join(repository, 'docs', 'schemas', `${name}.json`), 'utf8')) as Schema

/** Also members that the schema does not describe. */
export function mistakes(schema: Schema, value: unknown, at = '$'): readonly string[] {
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
      const known = schema.properties?.[name] ?? schema.additionalProperties
      if (known === true) return []
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
