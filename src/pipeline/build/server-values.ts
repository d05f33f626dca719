// Values of servers that the engine reads as another one, or refuses without saying where they are.

import { problemOfRead } from '../../compiler/sources/known-sources.ts'
import { lostNumber } from '../../compiler/sources/lost-numbers.ts'
import { problemOfMissing } from '../../compiler/sources/missing-tables.ts'
import { zeroDate } from '../../compiler/sources/zero-dates.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { rangeColumnOf } from '../../core/range-column.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { Slice, Step } from '../../core/step.ts'
import { DatabaseError, ifRefused } from '../../duckdb/errors.ts'
import { ModelFailure } from '../failure.ts'
import type { RunContext } from '../run-context.ts'
import { materializationOf } from './materialize/kinds.ts'
import { isInSome, isWithin } from './materialize/relation.ts'

type BuiltStep = Pick<Step, 'model' | 'slice'>

/** In the transaction in which the model is built, so that no other number comes between. Throws ModelFailure. */
export async function refuseLostNumbers(
  context: RunContext,
  { model, slice }: BuiltStep,
): Promise<void> {
  const { connection, project } = context
  const { sources = [] } = project.external ?? {}
  const tables = sourcesBehind(project, model)
  if (tables.size === 0 || model.kind === 'seed' || model.kind === 'events') return
  // Nothing reads a view but what reads its rows, and what publishes them.
  if (model.kind === 'view' && model.expose === null) return
  const lost = await lostNumber(connection, sources, tables, () => queryOf(context, model, slice))
  if (lost !== null) throw new ModelFailure(`${lost.problem}; ${lost.hint}`)
}

/**
 * Why a model failed that has read a source, where the error says neither which one nor where; null: nothing more is
 * known. After the transaction in which it was built.
 */
export async function explainRead(
  context: RunContext,
  { model, slice }: BuiltStep,
  error: unknown,
): Promise<ModelFailure | null> {
  const { connection, project } = context
  const tables = sourcesBehind(project, model)
  if (!(error instanceof DatabaseError) || tables.size === 0) return null
  if (model.kind === 'seed' || model.kind === 'events') return null
  const { message } = error
  const sources = project.external?.sources ?? []
  const explained = problemOfRead(sources, tables, message)
  if (explained !== null) return new ModelFailure(explained)
  const missing = await problemOfMissing(connection, sources, tables, message)
  if (missing !== null) return new ModelFailure(missing)
  const asked = async () =>
    zeroDate(connection, sources, tables, { query: await queryOf(context, model, slice), message })
  const found = await ifRefused(asked(), () => null)
  return found && new ModelFailure(`${found.problem}; ${found.hint}`)
}

/** Also through views. */
function sourcesBehind({ models }: CompiledProject, model: Model): ReadonlySet<string> {
  const found = new Set(model.sources)
  const seen = new Set([model.name])
  const look = ({ dependsOn }: Model) => {
    for (const name of dependsOn) {
      const input = models.get(name)
      if (input?.kind !== 'view' || seen.has(name)) continue
      seen.add(name)
      for (const source of input.sources) found.add(source)
      look(input)
    }
  }
  look(model)
  return found
}

/** It reads at most more than the build does. */
async function queryOf(
  context: RunContext,
  model: Exclude<Model, { readonly kind: 'seed' | 'events' }>,
  slice: Slice,
): Promise<Sql> {
  const query = sql`FROM (${sql.body(model.body)}\n)`
  const range = rangeColumnOf(model)
  if (range === null) return query
  const column = sql.ident(range.column)
  if (model.kind === 'period') {
    const ranges = (await materializationOf(model).ranges?.(context, model, slice)) ?? []
    const isAll = ranges.some(({ start, end }) => start === null && end === null)
    return ranges.length === 0 || isAll ? query : sql`${query} WHERE ${isInSome(column, ranges)}`
  }
  return slice === 'whole' ? query : sql`${query} WHERE ${isWithin(column, slice)}`
}
