// eider.yml as a JSON Schema, for editors: docs/schemas/eider.schema.json is what this gives.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { keysOfFile } from '../../../src/project/config.ts'
import { settings, type SettingType } from '../../../src/project/settings.ts'
import { access } from './access-schemas.ts'
import { groups, targets, variables } from './group-schemas.ts'
import { repository } from '../workspace.ts'
import { group, type JsonSchema, schemaOfType } from './value-schemas.ts'

/** Where the package is published; templates name it. */
export const SCHEMA_URL = 'https://unpkg.com/eider/docs/schemas/eider.schema.json'

const GROUPS: Readonly<Record<string, string>> = {
  lake: 'Keeps the tables in a lake: DuckLake with its catalog in PostgreSQL and its rows in an S3 store',
  extensions: 'Extensions of DuckDB',
  collect: 'The daemon that accepts events',
  odata: 'The service that answers OData',
  openlineage: 'Where the lineage of runs is sent',
}

export function configSchema(): JsonSchema {
  const shared = settingGroups()
  const refs = Object.fromEntries(
    Object.keys(shared).map((key) => [key, { $ref: `#/definitions/${key}` }]),
  )
  const vars = { $ref: '#/definitions/vars' }
  const own: Readonly<Record<(typeof keysOfFile)[number], JsonSchema>> = {
    name: { description: 'Name of the project', type: 'string', minLength: 1 },
    ...groups,
    targets: targets({ ...refs, vars }),
    vars,
  }
  const inOrder = Object.fromEntries(keysOfFile.map((key) => [key, own[key]]))
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    $id: SCHEMA_URL,
    title: 'eider.yml',
    description: 'Settings of an eider project. Made from the table of settings.',
    type: 'object',
    required: ['name'],
    properties: { ...inOrder, ...refs, ...withAccess(shared) },
    additionalProperties: false,
    definitions: { ...shared, vars: variables },
  }
}

/** The groups that have more in the file than in a target. */
function withAccess(
  shared: Readonly<Record<string, JsonSchema>>,
): Readonly<Record<string, JsonSchema>> {
  const groups: Record<string, JsonSchema> = {}
  for (const [key, schema] of Object.entries(access)) {
    const [name, member] = key.split('.') as [string, string]
    const { properties, ...others } = (groups[name] ?? shared[name]) as {
      readonly properties: JsonSchema
    }
    groups[name] = { ...others, properties: { ...properties, [member]: schema } }
  }
  return groups
}

/** By the first part of their names: a setting, or the group of those below it. */
function settingGroups(): Readonly<Record<string, JsonSchema>> {
  const found = new Map<string, Record<string, JsonSchema>>()
  const plain: Record<string, JsonSchema> = {}
  for (const [name, setting] of Object.entries(settings)) {
    const [first, second] = name.split('.') as [string, string?]
    if (second === undefined) plain[first] = schemaOfSetting(name, setting)
    else found.set(first, { ...found.get(first), [second]: schemaOfSetting(name, setting) })
  }
  const nested = Array.from(found, ([name, members]): [string, JsonSchema] => {
    const schema = group(members)
    if (name !== 'extensions') return [name, { description: GROUPS[name], ...schema }]
    // Short for the one member that most projects need.
    return [name, { description: GROUPS[name], anyOf: [members['load'], schema] }]
  })
  return { ...plain, ...Object.fromEntries(nested) }
}

interface Setting {
  readonly type: SettingType
  readonly default: unknown
  readonly env?: string
}

const page = readFileSync(join(repository, 'docs', 'configuration.md'), 'utf8')

/** What docs/configuration.md says of a setting. */
export const meaningOf = (name: string): string =>
  page
    .split('\n')
    .find((line) => line.startsWith(`| \`${name}\` `))!
    .split('|')
    .at(-2)!
    .trim()

function schemaOfSetting(name: string, setting: Setting): JsonSchema {
  const { type, env } = setting
  const how = env === undefined ? '' : `\n\nVariable of the environment: ${env}`
  const initial = setting.default === null ? {} : { default: setting.default }
  return { description: `${meaningOf(name)}${how}`, ...schemaOfType(type), ...initial }
}
