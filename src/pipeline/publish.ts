// What a run publishes: each exposed model as its table is, where the run left it as the model says. A model that failed
// keeps the relation that is published. How and where rows are published is the store's matter.

import { limits } from '../core/limits.ts'
import type { Model } from '../core/model.ts'
import { foldCase, type ModelName, sameName } from '../core/names.ts'
import { type Column, type ColumnType, textsOf } from '../core/relation.ts'
import type { Phase, Share } from '../core/report/progress.ts'
import { type PublishedRelation, setMetadata, withMetadata } from '../core/snapshot.ts'
import { sql } from '../core/sql.ts'
import { withoutSystems } from '../core/type-syntax.ts'
import { describe } from '../duckdb/catalog.ts'
import type { Connection } from '../duckdb/database.ts'
import { isInterrupt } from '../duckdb/errors.ts'
import type {
  ChangedRows,
  Published,
  PublishedRows,
  Retention,
  SnapshotStore,
} from '../store/snapshots.ts'
import { checkKey } from './build/materialize/stage.ts'
import { requireServableDurations } from './servable-durations.ts'

interface PublishModelsOptions {
  readonly connection: Connection
  readonly snapshots: SnapshotStore
  readonly runId: string
  readonly models: Iterable<Model>
  /** Whether a model that is not among `models` keeps what is published of it. */
  readonly isKept?: (model: string) => boolean
  /** Version of each model whose relation is as the model says; the others keep what is published of them. */
  readonly versions: ReadonlyMap<ModelName, string>
  /** In what a version differs from an earlier one; null, and where it is not given: in anything. */
  readonly changed?: ((model: ModelName, version: string) => ChangedRows | null) | undefined
  readonly now: Date
  readonly retention?: Retention | undefined
  readonly onShare?: ((share: Share) => void) | undefined
  readonly onPhase?: ((phase: Phase) => void) | undefined
  /** Called for a set whose rows are published already. */
  readonly onSame?: ((model: Model, relation: PublishedRelation) => void) | undefined
  /** Throws ModelFailure for a set that would break its clients. When not given, all are published. */
  readonly guard?: Guard | undefined
  /** Called for a model that cannot be published. Throws anything that is not a failure of the model. */
  readonly onFailure: (model: Model, error: unknown) => void
}

type Guard = (
  model: Model,
  before: PublishedRelation,
  after: Pick<PublishedRelation, 'key' | 'columns'>,
) => Promise<void>

const DEFAULT_RETENTION: Retention = {
  snapshots: limits.retainedSnapshots,
  ms: limits.retainedSnapshotMinutes * 60_000,
}

/** When it throws, what was published before is untouched. */
export async function publishModels(options: PublishModelsOptions): Promise<Published> {
  const { connection, snapshots, runId, now, retention = DEFAULT_RETENTION } = options
  return await snapshots.publish({ connection, runId, now, retention }, (rows) =>
    chooseRelations(options, rows),
  )
}

async function chooseRelations(
  options: PublishModelsOptions,
  rows: PublishedRows,
): Promise<readonly PublishedRelation[]> {
  const relations: PublishedRelation[] = []
  const exposed = [...options.models].filter(({ expose }) => expose !== null)
  for (const [done, model] of exposed.entries()) {
    options.onShare?.({ step: 'publish', model: model.name, done, total: exposed.length })
    const startedMs = performance.now()
    const before = rows.current?.relations.find((relation) => relation.model === model.name)
    try {
      const version = options.versions.get(model.name)
      const relation =
        version === undefined
          ? before
          : await publishModel(options, model, { version, before }, rows)
      if (relation !== undefined) relations.push(relation)
    } catch (error) {
      if (isInterrupt(error)) throw error
      options.onFailure(model, error)
      if (before !== undefined) relations.push(before)
    }
    const ms = performance.now() - startedMs
    options.onPhase?.({ model: model.name, phase: 'publish', startedMs, ms })
  }
  const published = rows.current?.relations ?? []
  return withKept(relations, published, options.isKept ?? (() => false))
}

/** In the order of the state before, so that what is the same has the same identity. */
function withKept(
  relations: readonly PublishedRelation[],
  published: readonly PublishedRelation[],
  isKept: (model: string) => boolean,
): readonly PublishedRelation[] {
  const kept = published.filter(({ model }) => isKept(model))
  if (kept.length === 0) return relations
  const all = [...relations, ...kept]
  const places = new Map(published.map(({ model }, i) => [model, i]))
  const placeOf = ({ model }: PublishedRelation) => places.get(model) ?? published.length
  return all.toSorted((a, b) => placeOf(a) - placeOf(b))
}

async function publishModel(
  { connection, guard, onSame, changed: changedIn }: PublishModelsOptions,
  model: Model,
  { version, before }: { readonly version: string; readonly before: PublishedRelation | undefined },
  rows: PublishedRows,
): Promise<PublishedRelation> {
  const { name } = model
  const require = async (after: Pick<PublishedRelation, 'key' | 'columns'>) => {
    if (before !== undefined) await guard?.(model, before, after)
  }
  const exposedKey = model.expose?.key ?? []
  const content = { model: name, version, exposedKey }
  const same = await rows.find(content)
  if (same !== null) {
    if (same.file === before?.file) onSame?.(model, same)
    else await require(same)
    return withMetadata(same, model, describedBy(model, same.columns))
  }
  const relation = sql.relation(name)
  // Other kinds were checked in the transaction that built them; collected events cannot be taken back.
  if (model.kind === 'events') await checkKey(connection, relation, exposedKey, 'expose')
  const columns = await publishedColumns(connection, model, exposedKey)
  await requireServableDurations(connection, relation, columns)
  const key = exposedKey.map((column) => asSpelledIn(columns, column))
  await require({ key, columns })
  const changed = changedIn?.(name, version) ?? null
  const metadata = setMetadata(model, { key, columns })
  return await rows.write(content, { relation, metadata, changed })
}

/** A table keeps the case with which its columns were created; the model may have changed its own since. */
export function asSpelledIn(columns: readonly Column[], name: string): string {
  const found = columns.find((column) => sameName(column.name, name))
  if (found === undefined) throw new Error(`the relation has no column ${name}`)
  return found.name
}

/** A table may hold columns that its model no longer has. */
export async function publishedColumns(
  connection: Connection,
  model: Model,
  key: readonly string[],
): Promise<readonly Column[]> {
  const columns = await describe(connection, sql`FROM ${sql.relation(model.name)}`)
  const required = new Set(key.map(foldCase))
  const keepsGone =
    model.kind === 'events' ||
    ('onSchemaChange' in model && model.onSchemaChange === 'keep' && model.columnsFromData !== true)
  const listed = new Set(model.columns.map(({ name }) => foldCase(name)))
  if (model.kind === 'events')
    for (const { name, nullable } of model.columns) {
      if (!nullable && !(await holdsNull(connection, model.name, name)))
        required.add(foldCase(name))
    }
  const published = columns
    .filter(({ name }) => !keepsGone || listed.has(foldCase(name)))
    .map((column) => ({ ...column, nullable: !required.has(foldCase(column.name)) }))
  return describedBy(model, published)
}

/** Texts are not part of a version: they change without the rows. */
function describedBy(model: Model, columns: readonly Column[]): readonly Column[] {
  const said = new Map(model.columns.map((column) => [foldCase(column.name), column]))
  return columns.map(({ name, type, nullable }) => {
    const own = said.get(foldCase(name))
    return { name, type: withSystem(type, own?.type), nullable, ...(own && textsOf(own)) }
  })
}

/** The table has lost the reference system of a GEOMETRY where another process has built it; the SELECT still says it. */
const withSystem = (stored: ColumnType, selected: ColumnType | undefined): ColumnType =>
  selected !== undefined && withoutSystems(selected) === stored ? selected : stored

/** Events from before a NOT NULL column was added have none. */
async function holdsNull(
  connection: Connection,
  model: ModelName,
  column: string,
): Promise<boolean> {
  const query = sql`SELECT 1 FROM ${sql.relation(model)} WHERE ${sql.ident(column)} IS NULL LIMIT 1`
  return (await connection.row(query)) !== null
}
