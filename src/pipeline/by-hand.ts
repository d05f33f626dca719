// Tables that somebody has changed with another program, so that readers of their sets see other rows. Runs and plans
// compare numbers of rows, which DuckDB has at hand; `eider doctor` compares all values, and reads both for it.

import { kinds } from '../core/kinds.ts'
import type { Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { ChangedByHand } from '../core/report/by-hand.ts'
import type { PublishedRelation } from '../core/snapshot.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Step } from '../core/step.ts'
import type { Connection } from '../duckdb/database.ts'
import { numberOf } from '../duckdb/values.ts'
import type { PastStates } from '../store/past-states.ts'
import { fileOf } from '../store/snapshots.ts'
import { printOf } from './changes/row-prints.ts'
import { eventsGone } from './changes/touched.ts'
import type { RunContext } from './run-context.ts'

/** A model whose table is as a run left it, as far as the run recorded, and what is published of it. */
export interface LeftAlone {
  readonly model: Model
  /** null: nothing. */
  readonly relation: PublishedRelation | null
}

/** Those that the next run would leave alone, of which what they are now is published. */
export async function leftAlone(
  { state, store }: Pick<RunContext, 'state' | 'store'>,
  steps: readonly Pick<Step, 'model' | 'action'>[],
): Promise<readonly LeftAlone[]> {
  const published = await store.snapshots.current()
  const relations = new Map(published?.relations.map((relation) => [relation.file, relation]))
  return steps
    .filter(({ action }) => action === 'unchanged')
    .map(({ model }) => {
      const { name, expose } = model
      const version = state.models.get(name)?.version
      const isShown = version !== undefined && expose !== null
      const file = isShown ? fileOf({ model: name, version, exposedKey: expose.key }) : ''
      return { model, relation: relations.get(file) ?? null }
    })
}

/** By their numbers of rows. Of events that others follow rows are missed also where they are not published. */
export async function countByHand(
  { connection, store }: Pick<RunContext, 'connection' | 'store'>,
  tables: readonly LeftAlone[],
): Promise<readonly ChangedByHand[]> {
  const shown = tables.flatMap(({ model, relation }) =>
    relation === null || kinds[model.kind].relation !== 'table' ? [] : [{ model, relation }],
  )
  const found: ChangedByHand[] = []
  for (let first = 0; first < shown.length; first += COUNTED_AT_ONCE) {
    const part = shown.slice(first, first + COUNTED_AT_ONCE)
    const counts = part.map(
      ({ model }, i) =>
        sql`(SELECT count(*) FROM ${sql.relation(model.name)}) AS ${sql.ident(`n${i}`)}`,
    )
    const row = await connection.row(sql`SELECT ${sql.join(counts)}`)
    for (const [i, { model, relation }] of part.entries()) {
      const rows = numberOf(row?.[`n${i}`])
      if (isOther(model, rows, relation.rows))
        found.push({ model: model.name, rows, published: relation.rows })
    }
  }
  const isFound = new Set(found.map(({ model }) => model))
  const { changes } = store.state
  for (const { model } of tables) {
    if (model.kind !== 'events' || isFound.has(model.name)) continue
    if (changes.columnsOf(model.name).length === 0) continue
    const gone = await eventsGone(connection, changes, model.name)
    if (gone > 0) found.push({ model: model.name, gone })
  }
  return found
}

/** More events may have been flushed meanwhile. */
const isOther = ({ kind }: Model, rows: number, published: number): boolean =>
  kind === 'events' ? rows < published : rows !== published

/** A statement with all of a thousand tables takes longer to plan than to carry out. */
const COUNTED_AT_ONCE = 50

/** By all their values, the order of rows aside. In no transaction. */
export async function compareByHand(
  { connection, store }: Pick<RunContext, 'connection' | 'store'>,
  tables: readonly LeftAlone[],
): Promise<readonly ChangedByHand[]> {
  const counted = await countByHand({ connection, store }, tables)
  const isFound = new Set(counted.map(({ model }) => model))
  const others: (LeftAlone & { readonly relation: PublishedRelation })[] = []
  for (const { model, relation } of tables) {
    if (relation === null || kinds[model.kind].relation !== 'table' || isFound.has(model.name))
      continue
    // What is wrong with published rows is another matter.
    if ((await store.past.problemOf(relation)) === null) others.push({ model, relation })
  }
  const { past } = store
  const relations = others.map(({ relation }) => relation)
  const before = await attachReadable(past, connection, relations)
  const found = [...counted]
  for (const { model, relation } of others) {
    const { rows } = relation
    const published = before.get(model.name)
    if (published === undefined) continue
    if (await differs({ connection, past }, relation, published))
      found.push({ model: model.name, rows, published: rows })
  }
  return found
}

/** Without those whose files are damaged where DuckDB looks first: one of them would keep all others from being read. */
async function attachReadable(
  past: PastStates,
  connection: Connection,
  relations: readonly PublishedRelation[],
): Promise<ReadonlyMap<ModelName, Sql>> {
  const orNone = async (some: readonly PublishedRelation[]) => {
    try {
      return await past.attach(connection, some)
    } catch (error) {
      if (!past.isLost(error)) throw error
      return null
    }
  }
  const all = await orNone(relations)
  if (all !== null) return all
  const found = new Map<ModelName, Sql>()
  for (const relation of relations)
    for (const [name, query] of (await orNone([relation])) ?? []) found.set(name, query)
  return found
}

async function differs(
  { connection, past }: { readonly connection: Connection; readonly past: PastStates },
  { model, columns }: PublishedRelation,
  before: Sql,
): Promise<boolean> {
  try {
    const names = sql.join(columns.map(({ name }) => sql.ident(name)))
    const now = sql`SELECT ${names} FROM ${sql.relation(model)}`
    const [was, is] = [await printOf(connection, before), await printOf(connection, now)]
    // More events may have been flushed meanwhile.
    return was.print !== is.print && was.rows === is.rows
  } catch (error) {
    if (!past.isLost(error)) throw error
    return false
  }
}
