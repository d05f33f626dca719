// What a test of a model has to give, and what is built between that and the model. What is given, or nothing, lies in
// tables in place of what a run has built or collected.

import type { CompiledProject, Model, SeedModel } from '../../core/model.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import { type Column, isReceivedAt } from '../../core/relation.ts'
import { didYouMean } from '../../core/suggest.ts'
import { ModelFailure } from '../failure.ts'
import { createSchema } from '../build/materialize/relation.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import type { Store } from '../../store/store.ts'
import { inFile, readRows, type RowsFile } from './fixtures.ts'
import { tokenize, isSymbol, isWord } from '../../compiler/sql/tokens.ts'
import { lineOf } from '../../core/diagnostics.ts'
import type { Compared } from './expected.ts'

export interface TestInput {
  readonly name: string
  readonly columns: readonly Column[]
  /** null: a table of a source. */
  readonly model: Model | null
}

export interface Inputs {
  readonly tables: readonly TestInput[]
  /** In the order of the DAG, the model of the test last. */
  readonly built: readonly Model[]
}

/** Events, seeds and sources are tables in any case. Throws ModelFailure for a fixture of something else. */
export function inputsOf(
  { models, external }: CompiledProject,
  target: Model,
  given: readonly { readonly relation: string; readonly path: string }[],
): Inputs {
  const isGiven = new Set(given.map(({ relation }) => foldCase(relation)))
  // Events of an events model are given to itself.
  const isItself = (relation: string) =>
    target.kind === 'events' && foldCase(relation) === foldCase(target.name)
  const tables = new Map<string, TestInput>()
  const built = new Set<ModelName>([target.name])
  for (const name of built) {
    const model = models.get(name)!
    for (const source of model.sources) {
      const columns = external?.tables.find((table) => table.name === source)?.columns ?? []
      tables.set(foldCase(source), { name: source, columns, model: null })
    }
    for (const input of model.dependsOn) {
      const read = models.get(input)!
      const isTable = isGiven.has(foldCase(input)) || read.kind === 'events' || read.kind === 'seed'
      if (isTable) tables.set(foldCase(input), { name: input, columns: read.columns, model: read })
      else built.add(input)
    }
  }
  for (const { relation, path } of given)
    if (!tables.has(foldCase(relation)) && !isItself(relation)) {
      const own =
        target.kind === 'events' ? [target.name] : [...target.sources, ...target.dependsOn]
      const names = [...new Set([...own, ...Array.from(tables.values(), ({ name }) => name)])]
      const meant = didYouMean(relation, names) ?? `it reads ${names.join(', ') || 'nothing'}`
      const hint = given.some((one) => tables.has(foldCase(one.relation)))
        ? meant
        : `${meant} (given/ has no rows of what it reads)`
      throw new ModelFailure(
        `${path}: ${target.name} does not read "${relation}"; ${hint}`,
        'placed',
      )
    }
  const ordered = [...models.values()].filter(({ name }) => built.has(name))
  return { tables: [...tables.values()], built: ordered }
}

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

export type TestedModel = Exclude<Model, SeedModel>

/** Throws ModelFailure for a name that no model has which can be tested. */
export function testedModel({ models, failed }: CompiledProject, name: string): TestedModel {
  const isMeant = (known: ModelName) => foldCase(known) === foldCase(name)
  for (const model of models.values()) {
    if (!isMeant(model.name)) continue
    if (model.kind !== 'seed') return model
    throw new ModelFailure(
      `${model.name} is a file, so there is nothing to test; give its rows in a test of a model that reads it`,
      'placed',
    )
  }
  for (const broken of failed.values()) {
    if (!isMeant(broken.name)) continue
    const [mistake] = failed.get(broken.failedBy)?.mistakes ?? []
    throw new ModelFailure(
      mistake === undefined ? `${broken.failedBy} does not compile` : lineOf(mistake),
      'placed',
    )
  }
  const hint = didYouMean(name, models.keys())
  throw new ModelFailure(`no model "${name}"${hint === undefined ? '' : `; ${hint}`}`, 'placed')
}

export function comparedModel(model: TestedModel, tolerance: number): Compared {
  return {
    relation: model.name,
    columns: model.columns,
    rows: sql.relation(model.name),
    key: testedKey(model),
    isOrdered: ordersRows(model),
    tolerance,
  }
}

export function testedKey(model: Model): readonly string[] {
  if ('uniqueKey' in model && model.uniqueKey.length > 0)
    // Versions of an scd2 model share their key.
    return model.kind === 'scd2' ? [...model.uniqueKey, 'valid_from'] : model.uniqueKey
  return model.expose?.key ?? []
}

/** The SELECT ends with ORDER BY, and nothing is added to its rows. */
function ordersRows(model: TestedModel): boolean {
  if (model.kind !== 'table' && model.kind !== 'view') return false
  let depth = 0
  const tokens = tokenize(model.body.text).filter(({ kind }) => kind !== 'comment')
  return tokens.some((token, i) => {
    if (isSymbol(token, '(')) depth++
    else if (isSymbol(token, ')')) depth--
    return depth === 0 && isWord(token, 'order') && isWord(tokens[i + 1], 'by')
  })
}
