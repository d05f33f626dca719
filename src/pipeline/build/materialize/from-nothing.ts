// Relations that every build makes from nothing: views, tables, seeds.

import { kinds } from '../../../core/kinds.ts'
import type { Model, SeedModel, TableModel, ViewModel } from '../../../core/model.ts'
import { sameName } from '../../../core/names.ts'
import type { RowChanges } from '../../../core/report/planned-changes.ts'
import { type Sql, sql } from '../../../core/sql.ts'
import { describe } from '../../../duckdb/catalog.ts'
import { ifRefused } from '../../../duckdb/errors.ts'
import { compareByKey, compareRows } from '../../plan/dry-run/compare.ts'
import type { RunContext } from '../../run-context.ts'
import { comparing } from '../../changes/replaced.ts'
import { maintained } from './maintain.ts'
import { checkKey } from './stage.ts'
import type { Materialization } from './materialization.ts'
import { countRows, makeWay, relationType } from './relation.ts'
import { seedQuery } from '../../../compiler/seed.ts'

function fromNothing<M extends ViewModel | TableModel | SeedModel>(
  statement: (model: M, dir: string, createdIn: string | null) => Sql,
  query: ((model: M, dir: string) => Sql) | null = null,
): Materialization<M> {
  return {
    statement,
    refuse: () => Promise.resolve(),
    refuseReplacement: () => null,
    losses: () => Promise.resolve([]),
    rowKey: () => [],
    currentRows: (relation) => relation,
    async build(context, model) {
      const { store, connection, paths } = context
      const relation = sql.relation(model.name)
      const make = statement(model, paths.dir, context.createdIn)
      const replace = async () => {
        await makeWay(context, model)
        return query === null
          ? connection.run(make)
          : store.tables.create(connection, model.name, {
              query: query(model, paths.dir),
              statement: make,
            })
      }
      const made = await comparing(context, model, replace)
      await checkKey(connection, relation, model.expose?.key ?? [], 'expose')
      if (query === null) return { changed: true }
      return { changed: true, rows: made ?? (await countRows(connection, relation)) }
    },
    async dryRun(context, model, { before }) {
      const { connection, paths, catalog, changes: notes } = context
      const relation = sql.relation(model.name)
      await connection.run(sql`DROP VIEW IF EXISTS ${relation}`)
      await connection.run(statement(model, paths.dir, null))
      const key = model.expose?.key ?? []
      await checkKey(connection, relation, key, 'expose')
      const isTable = kinds[model.kind].relation === 'table'
      const wasTable = before !== null && relationType(catalog, model.name) === 'table'
      if (isTable && wasTable) notes.lose(model.name)
      const changes = isTable && wasTable ? await compareTables(context, model, before) : null
      return { changed: true, added: null, changes }
    },
  }
}

/** By key where both have it, as one type, and it is unique; else by whole rows. */
async function compareTables(
  context: RunContext,
  { name, expose }: Model,
  before: Sql,
): Promise<RowChanges | null> {
  const { connection } = context
  const after = sql.relation(name)
  const key = expose?.key ?? []
  const [old, now] = [
    await describe(connection, sql`FROM ${before}`),
    await describe(connection, sql`FROM ${after}`),
  ]
  const parts = key.map((part) =>
    [old, now].map((all) => all.find((one) => sameName(one.name, part))),
  )
  if (key.length === 0 || parts.some(([was]) => was === undefined))
    return compareRows(connection, { before, after })
  const byKey = compareByKey(connection, { before, after, key })
  const retyped = parts.find(([was, is]) => was?.type !== is?.type)
  const changes = await (retyped === undefined ? byKey : ifRefused(byKey, () => null))
  if (changes === null) {
    const [was, is] = retyped!
    context.changes.warn(
      name,
      `rows cannot be compared by "${is!.name}", whose type changes from ${was!.type} to ${is!.type}: whole rows are compared`,
    )
    return compareRows(connection, { before, after })
  }
  const [rowsBefore, rowsAfter] = [
    await countRows(connection, before),
    await countRows(connection, after),
  ]
  // A table that had another key may have rows with the same value of this one; then the counts do not add up.
  const isKey = rowsAfter === rowsBefore + changes.inserted - changes.removed
  return isKey ? changes : compareRows(connection, { before, after })
}

const wholeTable = fromNothing<TableModel>(
  (model, _, createdIn) => createTable(model, sql.body(model.body), createdIn),
  ({ body }) => sql.body(body),
)

export const table: Materialization<TableModel> = {
  ...wholeTable,
  build: async (context, model, slice) => {
    const original = createTable(model, sql.body(model.body), context.createdIn)
    const built = await maintained(context, model, original)
    return built ?? (await wholeTable.build(context, model, slice))
  },
}

/** The newline keeps a comment at the end of the query away from the parenthesis. */
function createTable(
  { name }: Pick<TableModel, 'name'>,
  query: Sql,
  createdIn: string | null,
): Sql {
  return sql`CREATE OR REPLACE TABLE ${sql.relation(name, createdIn)} AS (${query}\n)`
}

export const view: Materialization<ViewModel> = fromNothing(
  ({ name, body }, _, createdIn) =>
    sql`CREATE OR REPLACE VIEW ${sql.relation(name, createdIn)} AS (${sql.body(body)}\n)`,
)

export const seed: Materialization<SeedModel> = fromNothing<SeedModel>(
  (model, dir, createdIn) => createTable(model, seedQuery(model, dir), createdIn),
  seedQuery,
)
