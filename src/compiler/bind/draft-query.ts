// Models that are a query.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase, type ModelName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type ModelBody, sql } from '../../core/sql.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { resolveChecks } from '../checks/checks.ts'
import { definitionOf } from '../definition.ts'
import {
  type Draft,
  type DraftContext,
  type DraftResult,
  extraDependencies,
  finishHeader,
} from './draft.ts'
import { columnLocations } from '../exposure.ts'
import { columnsOfBody, finishKind, settingsOf, wrapping } from '../kinds.ts'
import { unevenOperation } from '../hints/set-operations.ts'
import type { ParsedQuery } from '../model-file.ts'
import { describeColumns } from '../sql/named-columns.ts'
import {
  engineDiagnostic,
  spanAtByte,
  spanOfError,
  withoutDir,
} from '../hints/engine-diagnostic.ts'
import { appendOverGroups, renamedColumns } from '../output-warnings.ts'
import { castToJson, unstorableColumns } from '../stored-columns.ts'
import { type ResolvedQuery, unknownModel } from '../resolve.ts'

/** `dynamic`: models whose columns depend on their data. */
export function draftQuery(
  query: ResolvedQuery,
  dynamic: readonly ModelName[],
  context: DraftContext,
): Draft {
  const { parsed, references } = query
  const { name, source, kind, body } = parsed
  const extra = extraDependencies(parsed, context)
  const dependsOn = [...new Set([...references.models.map((model) => model.name), ...extra.keys()])]
  const { opening, closing } = wrapping(kind)
  return {
    name,
    dependsOn,
    complete: true,
    opening,
    rows: () => sql`${sql.body(body)}${closing}`,
    placeOf: (model) => {
      const reference = references.models.find((candidate) => candidate.name === model)
      const declared = reference === undefined ? extra.get(model) : undefined
      return { source, span: declared ?? spanAtByte(body, reference?.at ?? null) }
    },
    explain: async (details, prefix) => explainQuery(query, dynamic, context, details, prefix),
    finish: (columns) => finishQuery(query, dependsOn, columns, context),
  }
}

async function finishQuery(
  { parsed, references, tree, canonical }: ResolvedQuery,
  dependsOn: readonly ModelName[],
  columns: readonly Column[],
  context: DraftContext,
): Promise<DraftResult> {
  const { source, header, kind, body } = parsed
  const { sources } = references
  const volatile = references.volatile || sources.some(context.isVolatileSource)
  const files = [...new Set([...references.files, ...sources.map(context.pathOfSource)])]
  const own = (all: readonly Column[]) => columnsOfBody(kind, all)
  const named = await namesOfQuery(body, columns, context)
  const placeOfColumn = (i: number) => {
    const at = tree === null ? null : columnLocations(tree, own(columns).length)[i]
    return at == null ? null : spanAtByte(body, at)
  }
  const visible = header.expose === undefined ? columns : named
  const { base, diagnostics } = finishHeader(parsed, visible, placeOfColumn)
  const surprises = [
    ...renamedColumns(parsed, named, columns, placeOfColumn),
    ...appendOverGroups(parsed, tree, columns),
  ]
  // A view has no rows, but what is published of it has.
  const hasRows = kind !== 'view' || header.expose !== undefined
  const unstorable = unstorableColumns(context, hasRows ? columns : [], {
    source,
    spanOf: (i) => placeOfColumn(i) ?? spanAtByte(body, null),
    hintOf: castToJson,
  })
  const parts = sources.map(context.partOfSource)
  const settings = settingsOf(source, header, context.variables)
  const definition = definitionOf(kind, settings, canonical, context.macros, ...parts)
  const { checks, diagnostics: inChecks } = await resolveChecks(parsed, columns, context)
  const { described, diagnostics: inTexts } = describeColumns(parsed, columns)
  const rest = {
    ...base,
    columns: described,
    dependsOn,
    sources,
    files,
    volatile,
    definition,
    body,
    checks,
    ...(tree === null ? { columnsFromData: true as const } : {}),
  }
  const finished = finishKind(parsed, rest, own(columns))
  const unknown = unknownModels(parsed, context)
  const wrong = [
    ...diagnostics,
    ...finished.diagnostics,
    ...inChecks,
    ...inTexts,
    ...unknown,
    ...unstorable,
  ]
  return { model: finished.model, diagnostics: [...wrong, ...surprises] }
}

/** DuckDB renames columns of a table where two columns of the query have the same name; the author has to know. */
async function namesOfQuery(
  body: ModelBody,
  columns: readonly Column[],
  { connection }: DraftContext,
): Promise<readonly Column[]> {
  const names = new Set(columns.map(({ name }) => foldCase(name)))
  const isRenamed = ({ name }: Column) =>
    /_\d+$/.test(name) && names.has(foldCase(name.replace(/_\d+$/, '')))
  if (!columns.some(isRenamed)) return columns
  const original = await connection.columnsOf(sql.body(body))
  return columns.map((column, i) => ({ ...column, name: original[i]?.name ?? column.name }))
}

function unknownModels(
  { header, source }: ParsedQuery,
  { findModel, modelNames }: DraftContext,
): readonly Diagnostic[] {
  return (header.depends_on?.value ?? [])
    .filter(({ name }) => findModel(name) === null)
    .map(({ name, span }) => unknownModel(name, { source, span }, modelNames))
}

function explainQuery(
  { parsed: { body, source }, tree, references }: ResolvedQuery,
  dynamic: readonly ModelName[],
  { modelNames, dir }: DraftContext,
  error: DatabaseErrorDetails,
  prefix: string,
): readonly Diagnostic[] {
  const details = withoutDir(error, dir)
  // All columns come from the data, of which there is none now.
  if (tree === null && details.message.startsWith('SELECT list is empty')) return []
  const place = { source, span: spanOfError(details, body, prefix) }
  const upstream = references.models.find(({ name }) => dynamic.includes(name))
  const hint = `list the values of its PIVOT: ON column IN (…)`
  if (details.type === 'Catalog' && details.message.startsWith('Table with name')) {
    if (upstream === undefined)
      return [unknownModel(source.text.slice(place.span.start, place.span.end), place, modelNames)]
    const use = `leaves ${upstream.name} without columns that are known at compile time`
    return [diagnostic('dynamic-pivot', { use }, place, hint)]
  }
  if (details.message.startsWith('Set operations can only apply')) {
    const uneven = unevenOperation(tree)
    if (uneven !== null) {
      const problem = `the SELECT on the left has ${columns(uneven.left)}, this one has ${columns(uneven.right)}`
      const at = { source, span: spanAtByte(body, uneven.at) }
      const all = 'give both the same columns, or match them by name with UNION ALL BY NAME'
      return [diagnostic('sql-binding', { problem }, at, all)]
    }
  }
  const found = engineDiagnostic(details, body, prefix)
  if (details.subtype !== 'COLUMN_NOT_FOUND' || upstream === undefined) return [found]
  return [{ ...found, hint: `the columns of ${upstream.name} come from its data: ${hint}` }]
}

const columns = (count: number) => `${count} ${count === 1 ? 'column' : 'columns'}`
