// The published state: what `run` writes under .eider/snapshots and `serve` reads.
//
// manifest.json names the current snapshot and the file of each exposed model. A file is an immutable DuckDB
// database with `main.rows`, ordered by the key: one table, or, of a relation with `apart`, a view of two. The manifest is replaced by one rename, so a reader sees
// either the old state of all models or the new one. A manifest is valid if and only if it is JSON with
// `format` = 1 and every member below (a column may have no `description` and the like); files that it does not name are not part of it.
// A state that was replaced and has come back has `earlier`, the times at which it was current before.
//
// A service that finds a file damaged writes `<file>.damaged` next to it, with the problem as text for people. The marker
// alone counts: a run that publishes the model rewrites the file, even where nothing has changed, and deletes it.

import { isObject } from './object.ts'
import type { Hierarchy, LeveledHierarchy, Meaning, Measure, RollupOf } from './meaning.ts'
import { parseItems } from './json-items.ts'
import { type ModelName, parseModelName } from './names.ts'
import { type Column, columnType } from './relation.ts'
import type { Sql } from './sql.ts'

export const SNAPSHOT_FORMAT = 1
export const MANIFEST_FILE = 'manifest.json'

/** The manifest of a retained snapshot, the current one included. */
export const retainedManifestFile = (id: string): string => `manifest-${id}.json`

/** What the explorer shows of it; written after its manifest, so it may be missing (core/catalog.ts). */
export const catalogFile = (id: string): string => `catalog-${id}.json`

/** Its presence makes the next run rewrite the file. */
export const damageMarkerFile = (file: string): string => `${file}.damaged`

export interface Snapshot {
  /** Changes with the content: a hash of the relations and their versions. */
  readonly id: string
  readonly publishedAt: Date
  readonly runId: string
  readonly relations: readonly PublishedRelation[]
  /** When it was current before others took its place and it came back; oldest first. */
  readonly earlier?: readonly EarlierTime[]
}

export interface EarlierTime {
  readonly publishedAt: Date
  readonly replacedAt: Date
  readonly runId: string
}

/** What clients are told of a set. Stores keep it with its rows, and look only at the key and the columns. */
export interface SetMetadata extends HeaderMetadata {
  readonly key: readonly string[]
  readonly columns: readonly Column[]
}

/** The part of it that stands in the header of the model. */
interface HeaderMetadata {
  readonly description: string | null
  /** Absent where nothing is said. */
  readonly meaning?: Meaning
}

/** Of the header, which may be a whole model, nothing else. */
export const setMetadata = (
  { description, meaning }: HeaderMetadata,
  { key, columns }: Pick<SetMetadata, 'key' | 'columns'>,
): SetMetadata => ({ key, description, columns, ...(meaning && { meaning }) })

/** The relation with what header and columns say now. */
export function withMetadata(
  relation: PublishedRelation,
  header: HeaderMetadata,
  columns: readonly Column[],
): PublishedRelation {
  const { meaning: _, ...rest } = relation
  return { ...rest, ...setMetadata(header, { key: relation.key, columns }) }
}

export interface PublishedRelation extends SetMetadata {
  readonly model: ModelName
  /** File name in the snapshots directory. */
  readonly file: string
  readonly bytes: number
  readonly rows: number
  /** Only a file has it that continues another one. Without it, the file was written whole. */
  readonly apart?: RowsApart
}

/** What has changed since a file was written whole. */
export interface RowsApart {
  /** Rows that lie in a table of their own; 0: `main.rows` is one table. */
  readonly rows: number
  /** Rows that came, went or changed. */
  readonly changes: number
  /** Files of earlier states, oldest first, of which the file has the keys of all rows that it may differ in. */
  readonly since?: readonly string[]
}

/** What a store declares of the rows that it has published. */
export interface StoredRows {
  /** The table with the rows of a relation that is open in an engine under `name`. */
  readonly tableOf: (name: string) => TableName
  /** Where rows of such a relation lie that are not in one table; null: they are. */
  readonly partsOf: (relation: Pick<PublishedRelation, 'apart'>, name: string) => RowParts | null
  /**
   * The keys of all rows in which two files of one relation may differ, of which `now` is open under `name` and is the
   * later one; null: any rows may.
   */
  readonly keysBetween: (
    now: Pick<PublishedRelation, 'apart' | 'key'>,
    before: Pick<PublishedRelation, 'file'>,
    name: string,
  ) => Sql | null
  /** Whether rows that are read without an order come in that of their key. */
  readonly inKeyOrder: boolean
  /** Whether an engine reads them with nothing but its own files within reach: no network, no extension. */
  readonly ownFilesOnly: boolean
}

/** Whether the rows of both can be compared column by column. */
export function isSameShape(now: Shape, before: Shape): boolean {
  const shapeOf = ({ key, columns }: Shape) =>
    JSON.stringify([key, columns.map(({ name, type }) => [name, type])])
  return shapeOf(now) === shapeOf(before)
}

type Shape = Pick<PublishedRelation, 'key' | 'columns'>

/** Where a reader finds all rows who needs no order, or makes one: to bring parts into order is to sort them. */
export const rowsInAnyOrder = (
  { tableOf, partsOf }: StoredRows,
  relation: Pick<PublishedRelation, 'apart'>,
  name: string,
): TableName => partsOf(relation, name)?.all ?? tableOf(name)

/** The tables that have the rows, each row once. */
export function tablesOfRows(
  { tableOf, partsOf }: StoredRows,
  relation: Pick<PublishedRelation, 'apart'>,
  name: string,
): readonly TableName[] {
  const parts = partsOf(relation, name)
  return parts === null ? [tableOf(name)] : [parts.most, parts.few]
}

/** Two tables that have each row once. */
export interface RowParts {
  /** Both, in no order. */
  readonly all: TableName
  /** Most of the rows, in the order of their key. */
  readonly most: TableName
  readonly few: TableName
}

/** The parts of a name in SQL. */
export type TableName = readonly [string, ...string[]]

/** What a run that starts now would publish of a model. */
export interface ExpectedRelation extends PublishedRelation {
  /** Columns that are not nullable unless rows from before have no value in them. */
  readonly perhapsNullable: readonly string[]
}

export function printManifest(snapshot: Snapshot): string {
  const { id, publishedAt, runId, relations, earlier = [] } = snapshot
  const times = earlier.map((time) => ({
    published_at: time.publishedAt.toISOString(),
    replaced_at: time.replacedAt.toISOString(),
    run_id: time.runId,
  }))
  const document = {
    format: SNAPSHOT_FORMAT,
    id,
    published_at: publishedAt.toISOString(),
    run_id: runId,
    ...(times.length === 0 ? {} : { earlier: times }),
    relations,
  }
  return JSON.stringify(document, null, 2) + '\n'
}

/** Throws an Error that says what is wrong with the text. */
export function parseManifest(text: string): Snapshot {
  const steps = parseManifestSteps(text)
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** The same in small steps: the manifest of a thousand wide tables has 20 MB. */
export function* parseManifestSteps(text: string): Generator<void, Snapshot> {
  const relations: PublishedRelation[] = []
  const items: unknown[] = []
  const reading = parseItems(text, 'relations')
  let read = reading.next()
  for (; read.done !== true; read = reading.next()) {
    items.push(read.value)
    yield
  }
  const document = asObject(read.value, 'manifest')
  if (document['format'] !== SNAPSHOT_FORMAT)
    throw new Error(
      `manifest has format ${String(document['format'])}, expected ${SNAPSHOT_FORMAT}`,
    )
  for (const item of [...items, ...asArray(document['relations'], 'relations')]) {
    relations.push(parseRelation(item))
    yield
  }
  const earlier = asArray(document['earlier'] ?? [], 'earlier').map(parseEarlier)
  return {
    id: asString(document['id'], 'id'),
    publishedAt: asDate(document['published_at'], 'published_at'),
    runId: asString(document['run_id'], 'run_id'),
    ...(earlier.length === 0 ? {} : { earlier }),
    relations,
  }
}

function parseEarlier(value: unknown): EarlierTime {
  const time = asObject(value, 'time')
  return {
    publishedAt: asDate(time['published_at'], 'published_at'),
    replacedAt: asDate(time['replaced_at'], 'replaced_at'),
    runId: asString(time['run_id'], 'run_id'),
  }
}

function parseRelation(value: unknown): PublishedRelation {
  const relation = asObject(value, 'relation')
  const model = parseModelName(asString(relation['model'], 'model'))
  if (model === null) throw new Error('manifest names no model')
  const file = asString(relation['file'], 'file')
  if (!/^[\w.-]+$/.test(file)) throw new Error('manifest names a file outside its directory')
  const description = relation['description']
  const key = asArray(relation['key'], 'key').map((name) => asString(name, 'key'))
  const columns = asArray(relation['columns'], 'columns').map(parseColumn)
  if (!key.every((name) => columns.some((column) => column.name === name)))
    throw new Error(`the key of ${model} names a column that it does not have`)
  const { apart, meaning } = relation
  return {
    model,
    file,
    bytes: asNumber(relation['bytes'], 'bytes'),
    rows: asNumber(relation['rows'], 'rows'),
    key,
    description: description === null ? null : asString(description, 'description'),
    columns,
    ...(meaning === undefined ? {} : { meaning: parseMeaning(meaning, columns) }),
    ...(apart === undefined ? {} : { apart: parseApart(apart) }),
  }
}

function parseApart(value: unknown): RowsApart {
  const apart = asObject(value, 'apart')
  const since = apart['since']
  const files = since === undefined ? [] : asArray(since, 'since')
  return {
    rows: asNumber(apart['rows'], 'rows'),
    changes: asNumber(apart['changes'], 'changes'),
    ...(since === undefined ? {} : { since: files.map((file) => asString(file, 'since')) }),
  }
}

function parseColumn(value: unknown): Column {
  const column = asObject(value, 'column')
  return {
    name: asString(column['name'], 'name'),
    type: columnType(asString(column['type'], 'type')),
    nullable: column['nullable'] !== false,
    ...parseTexts(column, ['description', 'label', 'unit', 'format', 'text']),
  }
}

function parseTexts<Name extends string>(
  of: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { readonly [N in Name]?: string } {
  const given = names.filter((name) => of[name] !== undefined)
  return Object.fromEntries(given.map((name) => [name, asString(of[name], name)])) as {
    readonly [N in Name]?: string
  }
}

/** Names of columns that are not there are left out. */
function parseMeaning(value: unknown, columns: readonly Column[]): Meaning {
  const meaning = asObject(value, 'meaning')
  const isThere = (name: string) => columns.some((column) => column.name === name)
  const { time } = meaning
  return {
    measures: asArray(meaning['measures'], 'measures').map(parseMeasure),
    dimensions: asArray(meaning['dimensions'], 'dimensions')
      .map((name) => asString(name, 'dimension'))
      .filter(isThere),
    time: typeof time === 'string' && isThere(time) ? time : null,
    ...(meaning['rollup'] === undefined ? {} : { rollup: parseRollup(meaning['rollup']) }),
    ...(meaning['hierarchies'] === undefined
      ? {}
      : {
          hierarchies: asArray(meaning['hierarchies'], 'hierarchies')
            .map(parseHierarchy)
            .filter(({ node, parent }) => isThere(node) && isThere(parent)),
        }),
    ...(meaning['levels'] === undefined
      ? {}
      : {
          levels: asArray(meaning['levels'], 'levels')
            .map(parseLevels)
            .filter((one) => one.columns.every(isThere)),
        }),
  }
}

function parseHierarchy(value: unknown): Hierarchy {
  const hierarchy = asObject(value, 'hierarchy')
  return {
    name: asString(hierarchy['name'], 'name'),
    node: asString(hierarchy['node'], 'node'),
    parent: asString(hierarchy['parent'], 'parent'),
  }
}

function parseLevels(value: unknown): LeveledHierarchy {
  const hierarchy = asObject(value, 'hierarchy')
  const columns = asArray(hierarchy['columns'], 'columns')
  return {
    name: asString(hierarchy['name'], 'name'),
    columns: columns.map((name) => asString(name, 'column')),
  }
}

function parseRollup(value: unknown): RollupOf {
  const rollup = asObject(value, 'rollup')
  const of = parseModelName(asString(rollup['of'], 'of'))
  if (of === null) throw new Error('a rollup is made of no model')
  const never = asArray(rollup['never'], 'never').map((item) => {
    const column = asObject(item, 'column')
    return { name: asString(column['name'], 'name'), isMeasure: column['isMeasure'] === true }
  })
  return { of, never }
}

function parseMeasure(value: unknown): Measure {
  const measure = asObject(value, 'measure')
  return {
    name: asString(measure['name'], 'name'),
    text: asString(measure['text'], 'text'),
    sql: asString(measure['sql'], 'sql'),
    type: columnType(asString(measure['type'], 'type')),
    columns: asArray(measure['columns'], 'columns').map((name) => asString(name, 'column')),
    ...parseTexts(measure, ['description', 'label', 'unit', 'format']),
  }
}

function asObject(value: unknown, what: string): Readonly<Record<string, unknown>> {
  if (!isObject(value)) throw new Error(`${what} is not an object`)
  return value
}

function asArray(value: unknown, what: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`${what} is not an array`)
  return value
}

function asString(value: unknown, what: string): string {
  if (typeof value !== 'string') throw new Error(`${what} is not a string`)
  return value
}

function asNumber(value: unknown, what: string): number {
  if (typeof value !== 'number') throw new Error(`${what} is not a number`)
  return value
}

function asDate(value: unknown, what: string): Date {
  const date = new Date(asString(value, what))
  if (Number.isNaN(date.getTime())) throw new Error(`${what} is not a valid time`)
  return date
}
