// eider.yml in an editor: what a key means, and which keys and values may follow. By the JSON Schema of the file, and by
// its lines, for a file that is being typed is rarely YAML.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDir } from '../files/package.ts'

interface JsonSchema {
  readonly [keyword: string]: unknown
}

interface YamlLine {
  /** Where its key stands, or would. */
  readonly column: number
  /** Where the dash of an item stands. */
  readonly dash: number | null
  readonly key: string | null
}

/** Keys from the top of the file down to the line of an offset; `-` for an item of a list. */
export function pathAt(text: string, offset: number): readonly string[] {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const [line = ''] = text.slice(lineStart).split('\n', 1)
  const own = readLine(line)
  return [...parentsOf(text.slice(0, lineStart), own), ...(own.key === null ? [] : [own.key])]
}

function readLine(line: string): YamlLine {
  const [, blanks = '', dash = '', key = null] =
    /^( *)(- +|-$)?(?:([\w.-]+) *:(?=\s|$))?/.exec(line) ?? []
  const column = blanks.length + dash.length
  return { column, dash: dash === '' ? null : blanks.length, key }
}

function parentsOf(before: string, own: YamlLine): readonly string[] {
  const path: string[] = []
  let { column: limit, dash } = own
  const enterItem = () => {
    path.unshift('-')
    limit = dash!
  }
  if (dash !== null) enterItem()
  for (const line of before.split('\n').toReversed()) {
    if (/^\s*(#|$)/.test(line)) continue
    const above = readLine(line)
    // The first key of an item stands in one column with those that follow it.
    const isFirst = dash === null && above.dash !== null && above.column === limit
    // A list may stand in one column with its key.
    const isBeside = dash !== null && above.dash === null && above.column === limit
    if (isFirst) dash = above.dash
    else if (above.key === null || (above.column >= limit && !isBeside)) continue
    else {
      path.unshift(above.key)
      limit = above.column
      dash = above.dash
    }
    if (dash !== null) enterItem()
  }
  return path
}

export function describeSetting(text: string, offset: number): string | null {
  const path = pathAt(text, offset)
  const schema = path.length === 0 ? null : schemaOf(path)
  const description = schema?.['description']
  if (typeof description !== 'string') return null
  const name = path.filter((key) => key !== '-').join('.')
  const initial = schema?.['default']
  const value = initial === undefined ? '' : `\n\nDefault: \`${JSON.stringify(initial)}\``
  return `**${name}**\n\n${description}${value}`
}

interface Proposal {
  readonly label: string
  readonly detail: string
  readonly isValue: boolean
}

/** `offset` is the end of what has been typed. */
export function proposalsAt(text: string, offset: number): readonly Proposal[] {
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const typed = text.slice(lineStart, offset)
  if (/^\s*#/.test(typed)) return []
  const [, key] = /^ *(?:- +)?([\w.-]+):\s+[\w.-]*$/.exec(typed) ?? []
  if (key !== undefined) return valuesOf(schemaOf(pathAt(text, lineStart)))
  if (!/^ *(?:- +)?[\w.-]*$/.test(typed)) return []
  const line = readLine(typed)
  return keysOf(schemaOf(parentsOf(text.slice(0, lineStart), line)))
}

function schemaOf(path: readonly string[]): JsonSchema | null {
  let schema: JsonSchema | null = root()
  for (const key of path) schema = schema === null ? null : below(schema, key)
  return schema
}

const SCHEMA_FILE = join(packageDir, 'docs', 'schemas', 'eider.schema.json')

let known: JsonSchema | null = null
const root = (): JsonSchema =>
  (known ??= JSON.parse(readFileSync(SCHEMA_FILE, 'utf8')) as JsonSchema)

function below(schema: JsonSchema, key: string): JsonSchema | null {
  const found = alternatives(schema).flatMap((one) => {
    const { properties = {}, patternProperties = {}, items } = one as Members
    if (key === '-') return items === undefined ? [] : [resolved(items)]
    const own = properties[key]
    const named = Object.entries(patternProperties).filter(([name]) => RegExp(name).test(key))
    return own === undefined ? named.map(([, member]) => resolved(member)) : [resolved(own)]
  })
  const [first] = found
  if (first === undefined || found.length === 1) return first ?? null
  return { description: first['description'], anyOf: found }
}

interface Members {
  readonly properties?: Readonly<Record<string, JsonSchema>>
  readonly patternProperties?: Readonly<Record<string, JsonSchema>>
  readonly items?: JsonSchema
}

function resolved(schema: JsonSchema): JsonSchema {
  const name = /^#\/definitions\/(.+)$/.exec((schema['$ref'] ?? '') as string)?.[1]
  return name === undefined ? schema : (root()['definitions'] as Record<string, JsonSchema>)[name]!
}

const alternatives = (schema: JsonSchema): readonly JsonSchema[] =>
  [schema, ...['anyOf', 'oneOf'].flatMap((name) => (schema[name] ?? []) as JsonSchema[])].map(
    resolved,
  )

const keysOf = (schema: JsonSchema | null): readonly Proposal[] =>
  (schema === null ? [] : alternatives(schema)).flatMap((one) =>
    Object.entries((one as Members).properties ?? {}).map(([label, member]) => ({
      label,
      detail: (resolved(member)['description'] ?? '') as string,
      isValue: false,
    })),
  )

function valuesOf(schema: JsonSchema | null): readonly Proposal[] {
  const value = (label: unknown) => ({ label: String(label), detail: '', isValue: true })
  return (schema === null ? [] : alternatives(schema)).flatMap((one) => {
    const { enum: listed, const: only, type = [], default: initial } = one
    if (Array.isArray(listed)) return listed.filter((item) => item !== null).map(value)
    if (only !== undefined) return [value(only)]
    if ([type].flat().includes('boolean')) return [value(true), value(false)]
    return initial === undefined || Array.isArray(initial) ? [] : [value(initial)]
  })
}
