// Tables with the rows that a test gives, or none, in place of what a run has built or collected.

import { createSchema } from '../build/materialize/relation.ts'
import type { Model } from '../../core/model.ts'
import { foldCase } from '../../core/names.ts'
import { isReceivedAt } from '../../core/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Store } from '../../store/store.ts'
import { ModelFailure } from '../failure.ts'
import { inFile, readRows, type RowsFile } from './fixtures.ts'
import type { Inputs, TestInput } from './inputs.ts'

export type GivenFile = RowsFile & { readonly relation: string }

export async function createInput(
  connection: Connection,
  { name, columns }: TestInput,
): Promise<void> {
  await connection.run(
    sql`${createSchema(name)}; CREATE TABLE ${sql.relation(name)} (${sql.definitions(columns)})`,
  )
}

export interface Filling {
  readonly connection: Connection
  readonly store: Store
  readonly dir: string
  readonly inputs: Inputs
  /** The number of the run, from 0 on. */
  readonly number: number
}

/** What a run does not give has the rows of the run before it, and none in the first. `posted`: files of events. */
export async function fillInputs(
  filling: Filling,
  given: readonly GivenFile[],
  posted: ReadonlySet<GivenFile>,
): Promise<void> {
  const { connection, dir, inputs, number } = filling
  for (const input of inputs.tables) {
    const file = given.find(({ relation }) => foldCase(relation) === foldCase(input.name))
    if (file !== undefined && !posted.has(file))
      await inFile(dir, file.path, async () => {
        const relation = sql.relation(input.name)
        const target = { relation: input.name, columns: input.columns }
        const { rows } = await readRows(connection, dir, file, target)
        await connection.run(sql`DELETE FROM ${relation}`)
        await connection.run(sql`INSERT INTO ${relation} BY NAME ${rows}`)
        if (input.model?.kind === 'events')
          await asAccepted(connection, relation, input.model, file.path)
      })
    if (number === 0 || file !== undefined) await recordGiven(filling, input)
  }
}

/** What reads it is built again. */
export async function recordGiven(
  { connection, store: { state }, number }: Filling,
  { model }: TestInput,
): Promise<void> {
  if (model === null) return
  const version = `given ${number}`
  const record = { model, fingerprint: version, version }
  await state.change(connection, () => state.recordModels(connection, 'test', [record]))
}

/** Does what the daemon does: it fills in the time of arrival, and refuses null where it must not be. */
async function asAccepted(
  connection: Connection,
  relation: Sql,
  { name: model, columns }: Model,
  path: string,
): Promise<void> {
  for (const column of columns) {
    const name = sql.ident(column.name)
    if (isReceivedAt(column))
      await connection.run(sql`UPDATE ${relation} SET ${name} = now() WHERE ${name} IS NULL`)
    else if (!column.nullable) {
      const row = await connection.row(sql`SELECT 1 FROM ${relation} WHERE ${name} IS NULL LIMIT 1`)
      if (row !== null)
        throw new ModelFailure(
          `${path}: "${column.name}" of ${model} is NOT NULL, and a row has none`,
          'placed',
        )
    }
  }
}
