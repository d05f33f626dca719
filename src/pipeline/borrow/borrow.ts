// What a run reads from another target (`--from`): models that are not selected are those of its published snapshot, for
// the whole run the same one. Its files are attached before anything is built, and stay readable when the other target
// publishes again, so neither of the two waits for the other.
//
// A published state has exposed models only. What is not published is built along with what reads it, up to what is; but
// the events of another target are nowhere else, so an events model must be published or selected.

import { EnvironmentError } from '../../core/failures.ts'
import { hashOf } from '../../core/hash.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName, splitModelName } from '../../core/names.ts'
import { type Sample, sampleKey } from './sample.ts'
import { sampled } from './sample-rows.ts'
import { type PublishedRelation, rowsInAnyOrder, type Snapshot } from '../../core/snapshot.ts'
import { limits } from '../../core/limits.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { DatabaseError } from '../../duckdb/errors.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'

export interface Lender {
  readonly name: string
  readonly published: SnapshotReader
  /** Where its state comes to this machine from another one: the command that brings it. */
  readonly pull: string | null
}

export interface Borrowed {
  readonly lender: string
  readonly snapshot: Snapshot
  readonly relations: ReadonlyMap<ModelName, PublishedRelation>
  /** Models that are built because the lender does not publish them. */
  readonly along: ReadonlySet<ModelName>
  /** Versions of what is borrowed, as part of the fingerprints of what reads it. */
  readonly versions: ReadonlyMap<ModelName, string>
}

const SPACE = '_eider_from'

/** `selected`: models that are built in any case. Attaches what is read. Throws EnvironmentError. */
export async function borrow(
  connection: Connection,
  lender: Lender,
  { models }: Pick<CompiledProject, 'models'>,
  selected: ReadonlySet<ModelName>,
  sample: Sample | null,
): Promise<Borrowed> {
  for (let tries = 1; ; tries++) {
    const snapshot = await currentOf(lender)
    const { relations, along } = findRelations(models, snapshot, selected)
    try {
      await attach(connection, lender, relations, sample)
    } catch (error) {
      // Files are deleted with the state that names them; then another one is current.
      if (!(error instanceof DatabaseError)) throw error
      if (tries < limits.borrowTries && (await currentOf(lender)).id !== snapshot.id) continue
      throw unreadable(lender, error)
    }
    const suffix = sample === null ? '' : sampleKey(sample)
    const versions = new Map(
      Array.from(relations, ([name, { file }]) => [name, hashOf(16, [file, suffix])]),
    )
    return { lender: lender.name, snapshot, relations, along, versions }
  }
}

/** Throws EnvironmentError `nothing-to-borrow`. */
export async function currentOf({ name, published, pull }: Lender): Promise<Snapshot> {
  const state = await published.current().catch((cause: unknown) => {
    throw unreadable({ name }, cause)
  })
  if (state !== null)
    return await state.read().catch((cause: unknown) => {
      throw unreadable({ name }, cause)
    })
  throw new EnvironmentError(
    'nothing-to-borrow',
    `the target ${name} has published nothing that is on this machine`,
    { hint: pull ?? `run it here, or copy its directory of snapshots to this machine` },
  )
}

function unreadable({ name }: Pick<Lender, 'name'>, cause: unknown): EnvironmentError {
  const reason = cause instanceof Error ? cause.message : String(cause)
  return new EnvironmentError(
    'nothing-to-borrow',
    `what the target ${name} has published cannot be read: ${reason}`,
    { hint: `publish it again: eider run --target ${name}`, cause },
  )
}

/** Upward from what is selected, to the nearest published models. */
function findRelations(
  models: ReadonlyMap<ModelName, Model>,
  { relations: published }: Snapshot,
  selected: ReadonlySet<ModelName>,
): {
  readonly relations: ReadonlyMap<ModelName, PublishedRelation>
  readonly along: ReadonlySet<ModelName>
} {
  const byName = new Map(published.map((relation) => [foldCase(relation.model), relation]))
  const relations = new Map<ModelName, PublishedRelation>()
  const along = new Set<ModelName>()
  const open = [...selected]
  for (let name = open.pop(); name !== undefined; name = open.pop())
    for (const input of models.get(name)?.dependsOn ?? []) {
      if (selected.has(input) || along.has(input)) continue
      const relation = byName.get(foldCase(input))
      if (relation !== undefined) relations.set(input, relation)
      else if (models.get(input)?.kind !== 'events') {
        along.add(input)
        open.push(input)
      }
    }
  return { relations, along }
}

/** Views under the names of the models, in a database of their own in memory, on the files of the lender. */
async function attach(
  connection: Connection,
  { published }: Lender,
  relations: Borrowed['relations'],
  sample: Sample | null,
): Promise<void> {
  await connection.run(sql`DETACH DATABASE IF EXISTS ${sql.ident(SPACE)}`)
  await connection.run(sql`ATTACH ':memory:' AS ${sql.ident(SPACE)} (READ_WRITE)`)
  for (const [i, [name, relation]] of [...relations].entries()) {
    const alias = `${SPACE}_${i}`
    await connection.run(sql`DETACH DATABASE IF EXISTS ${sql.ident(alias)}`)
    const { path } = published.open(relation, alias)
    await connection.run(sql`ATTACH ${sql.value(path)} AS ${sql.ident(alias)} (READ_ONLY)`)
    const { schema } = splitModelName(name)
    const view = sql.relation(name, SPACE)
    const columns = sql.idents(relation.columns.map((column) => column.name))
    const isLong = relation.rows >= limits.sampledFromRows
    const only = sample !== null && isLong ? sampled(sample, relation.columns) : null
    const rows = sql`SELECT ${columns} FROM ${sql.ident(...rowsInAnyOrder(published.rows, relation, alias))}`
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(SPACE, schema)}`)
    await connection.run(sql`CREATE VIEW ${view} AS ${rows} ${only ?? sql.empty}`)
  }
}

/**
 * What a connection runs so that names of models mean what is borrowed, before what the warehouse has. A new relation of
 * such a schema would be made there too, so a statement that creates one names the warehouse. Makes the schemas that the
 * warehouse lacks: a path cannot name them otherwise.
 */
export async function searchPath(
  connection: Connection,
  warehouse: string,
  { relations }: Borrowed,
): Promise<ReturnType<typeof sql.join>> {
  const schemas = new Map(
    Array.from(relations.keys(), (name) => {
      const { schema } = splitModelName(name)
      return [foldCase(schema), schema]
    }),
  )
  for (const schema of schemas.values())
    await connection.run(sql`CREATE SCHEMA IF NOT EXISTS ${sql.ident(warehouse, schema)}`)
  const parts = [...schemas.values()].flatMap((schema) => [
    sql.ident(SPACE, schema),
    sql.ident(warehouse, schema),
  ])
  const path = [sql.ident(warehouse, 'main'), ...parts].map((part) => part.inline()).join(',')
  return sql`SET search_path = ${sql.value(path)}`
}
