// How the engine would work out the SELECT of a model, and with `analyze` how it did: nothing is written.

import { seedQuery } from '../compiler/seed.ts'
import { UsageError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'
import type { ExplainedPlan, PlanOperator } from '../core/report/run-profile.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Connection } from '../duckdb/database.ts'
import { ifRefused } from '../duckdb/errors.ts'
import { textOf } from '../duckdb/values.ts'
import { problemIn } from './failure.ts'

interface Node {
  readonly name?: string
  readonly operator_name?: string
  readonly operator_cardinality?: number
  readonly operator_timing?: number
  readonly extra_info?: Readonly<Record<string, string | readonly string[]>>
  readonly children?: readonly Node[]
}

interface Root extends Node {
  readonly latency: number
  readonly cpu_time: number
  readonly system_peak_buffer_memory: number
  readonly system_peak_temp_dir_size: number
  readonly cumulative_rows_scanned: number
}

/** `connection`: to the warehouse. Throws UsageError for a model that has no query, and where it cannot be bound there. */
export async function explainModel(
  connection: Connection,
  model: Model,
  { dir, analyze }: { readonly dir: string; readonly analyze: boolean },
): Promise<ExplainedPlan> {
  const how = analyze ? sql`EXPLAIN (ANALYZE, FORMAT json)` : sql`EXPLAIN (FORMAT json)`
  const query = connection.row(sql`${how} ${queryOf(model, dir)}`)
  const row = await ifRefused(query, (error) => {
    throw new UsageError(`${model.name} cannot be explained: ${problemIn(error)}`, {
      hint: `build what it reads: eider run +${model.name}`,
    })
  })
  const found = JSON.parse(textOf(row?.['explain_value'])) as readonly Node[] | Root
  if (!('latency' in found))
    return { operators: found.flatMap((node) => operatorsOf(node, 0)), analyzed: null }
  // The first operator is EXPLAIN itself.
  const operators = (found.children ?? []).flatMap(({ children = [] }) =>
    children.flatMap((node) => operatorsOf(node, 0)),
  )
  const analyzed = {
    ms: Math.round(found.latency * 1000),
    cpu_ms: Math.round(found.cpu_time * 1000),
    peak_memory_bytes: found.system_peak_buffer_memory,
    spilled_bytes: found.system_peak_temp_dir_size,
    rows_scanned: found.cumulative_rows_scanned,
  }
  return { operators, analyzed }
}

function queryOf(model: Model, dir: string): Sql {
  if (model.kind === 'seed') return seedQuery(model, dir)
  if (model.kind !== 'events') return sql.body(model.body)
  throw new UsageError(`${model.name} takes rows from events, so it has no query`, {
    hint: 'explain a model that reads it',
  })
}

function operatorsOf(node: Node, depth: number): readonly PlanOperator[] {
  const { extra_info: info = {}, operator_cardinality: rows, operator_timing: seconds } = node
  const { 'Estimated Cardinality': estimated, ...rest } = info
  const operator = {
    depth,
    name: (node.operator_name ?? node.name ?? '').trim(),
    details: detailsOf(rest),
    estimated_rows: estimated === undefined ? null : Number(estimated),
    rows: rows ?? null,
    ms: seconds === undefined ? null : Math.round(seconds * 1e6) / 1000,
  }
  return [operator, ...(node.children ?? []).flatMap((child) => operatorsOf(child, depth + 1))]
}

/** What tells one operator from another; names of columns that only pass through do not. */
function detailsOf(info: NonNullable<Node['extra_info']>): string {
  const wanted = [
    'Table',
    'Function',
    'Filters',
    'Join Type',
    'Conditions',
    'Groups',
    'Aggregates',
    'Order By',
    'Expression',
  ]
  return wanted
    .flatMap((key) => info[key] ?? [])
    .map((text) => text.replaceAll(/\s+/g, ' ').trim())
    .filter((text) => text !== '')
    .join(', ')
}
