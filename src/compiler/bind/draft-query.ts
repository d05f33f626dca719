// Models that are a query.

import { relative } from 'node:path'
import { unstableKeys } from './unstable-key.ts'
import { changingColumns } from './changing-column.ts'
import { type Givers, giversFor, giversOf } from './givers.ts'
import { sheetsOfModel } from './model-sheets.ts'
import { untypedNulls } from './untyped-null.ts'
import { windowsOverOthers } from './window-over-others.ts'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { foldCase, type ModelName, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import { type ModelBody, sql } from '../../core/sql.ts'
import type { DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { resolveChecks } from '../checks/resolve-checks.ts'
import { filesOf } from '../file-hashes.ts'
import { earlyEnd, isCutOff } from '../sources/cut-off.ts'
import { isPacked } from '../sources/rows-of-file.ts'
import { definitionOf } from '../definition-hash.ts'
import {
  type Draft,
  type DraftContext,
  type DraftResult,
  extraDependencies,
  finishHeader,
  castToJson,
  unstorableColumns,
} from './draft.ts'
import { columnLocations, unevenOperation } from '../exposure.ts'
import { columnsOfBody, finishKind, settingsOf, wrapping, type Rules } from '../kinds.ts'
import type { ParsedQuery } from '../model-file.ts'
import { resolveMeaning } from '../measures/meaning.ts'
import { describeColumns } from '../sql/named-columns.ts'
import {
  engineDiagnostic,
  spanAtByte,
  spanOfError,
  withoutDir,
} from '../hints/engine-diagnostic.ts'
import { type ResolvedQuery, unknownModel } from '../resolve.ts'
import type { Span } from '../../core/source-text.ts'
import { kinds } from '../../core/kinds.ts'
import type { ColumnRename, Model, ViewModel } from '../../core/model.ts'
import { formerTexts } from '../former-texts.ts'
import { meaningOf } from '../sql/meaning.ts'
import { comparedWithNull } from './compared-with-null.ts'
import { namesReadBy, rulePartsOf } from '../lineage/rule-parts.ts'
import { rowsGivenBy } from '../sql/handed-on.ts'
import { columnNames, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'

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
    explain: async (details, prefix) => {
      const ended = await cutOffFiles(query, context)
      return ended.length > 0 ? ended : explainQuery(query, dynamic, context, details, prefix)
    },
    finish: (columns, before) => finishQuery(query, { dependsOn, before }, columns, context),
  }
}

/** A macro may name columns, so that of a query which calls one nothing is known. */
function partsOf(
  { parsed: { kind }, tree, canonical }: ResolvedQuery,
  columns: readonly Column[],
  { macrosIn }: DraftContext,
  more: readonly string[],
): Pick<ViewModel, 'names' | 'parts'> {
  if (tree === null || macrosIn(canonical) !== macrosIn('')) return {}
  const names = namesReadBy(tree)
  if (kinds[kind].keepsRows) return { names }
  const parts = rulePartsOf(tree, columns, more)
  return { names, ...(parts === null ? {} : { parts }) }
}

interface Surroundings {
  readonly dependsOn: readonly ModelName[]
  readonly before: ReadonlyMap<ModelName, Model>
}

async function finishQuery(
  query: ResolvedQuery,
  { dependsOn, before }: Surroundings,
  columns: readonly Column[],
  context: DraftContext,
): Promise<DraftResult> {
  const { parsed, references, tree, canonical } = query
  const { source, header, kind, body } = parsed
  const { sources } = references
  const isOutside = sources.some(context.sources.isVolatile)
  const volatile = references.volatile || isOutside
  const { varies } = references
  const files = [...new Set([...references.files, ...sources.map(context.sources.pathOf)])]
  const own = (all: readonly Column[]) => columnsOfBody(kind, all)
  const named = await namesOfQuery(body, columns, context)
  const placeOfColumn = (i: number) => {
    const at = tree === null ? null : columnLocations(tree, own(columns).length)[i]
    return at == null ? null : spanAtByte(body, at)
  }
  const visible = header.expose === undefined ? columns : named
  const { base, diagnostics } = finishHeader(parsed, visible, placeOfColumn)
  const givers = giversOf(query, own(columns), before, context.givers, placeOfColumn)
  const surprises = [
    ...renamedColumns(parsed, named, columns, placeOfColumn),
    ...appendOverGroups(parsed, tree, columns),
    ...surprisingColumns(query, own(columns), givers, placeOfColumn),
  ]
  // A view has no rows, but what is published of it has.
  const hasRows = kind !== 'view' || header.expose !== undefined
  const unstorable = unstorableColumns(context, hasRows ? columns : [], {
    source,
    spanOf: (i) => placeOfColumn(i) ?? spanAtByte(body, null),
    hintOf: castToJson,
  })
  const parts = sources.map(context.sources.partOf)
  const settings = settingsOf(source, header, context.variables)
  const definition = definitionOf(kind, settings, canonical, context.macros, ...parts)
  const { checks, diagnostics: inChecks } = await resolveChecks(parsed, columns, context)
  const { described, diagnostics: inTexts } = describeColumns(parsed, columns)
  const { diagnostics: inMeaning, ...meant } = await resolveMeaning(parsed, columns, context)
  const rest = {
    ...base,
    columns: described,
    ...meant,
    dependsOn,
    sources,
    files,
    volatile,
    ...(varies === undefined || isOutside ? {} : { varies }),
    definition,
    body,
    checks,
    ...(tree === null ? { columnsFromData: true as const } : {}),
    ...partsOf(query, own(columns), context, parts),
    ...(kinds[kind].keepsRows ? {} : giversFor(own(columns), givers)),
  }
  const finished = finishKind(parsed, rest, own(columns), rulesOf(query, context, parts))
  const unknown = unknownModels(parsed, context)
  const wrong = [
    ...diagnostics,
    ...finished.diagnostics,
    ...inChecks,
    ...inTexts,
    ...inMeaning,
    ...unknown,
    ...unstorable,
    ...(await wrongFiles(query, context)),
  ]
  return { model: finished.model, diagnostics: [...wrong, ...surprises] }
}

/** Of the files that the query itself names. */
const wrongFiles = async (
  query: ResolvedQuery,
  context: DraftContext,
): Promise<readonly Diagnostic[]> => [
  ...(await cutOffFiles(query, context)),
  ...(await sheetsOfModel(query, context)),
]

async function cutOffFiles(
  { parsed: { source, body }, references }: ResolvedQuery,
  { connection, dir }: DraftContext,
): Promise<readonly Diagnostic[]> {
  const found: Diagnostic[] = []
  for (const name of references.files.filter((one) => isPacked(one) || one.includes('*')))
    for (const path of await filesOf(connection, dir, name)) {
      if (!(await isCutOff(path))) continue
      const { problem, hint } = earlyEnd(relative(dir, path))
      const place = { source, span: spanAtByte(body, null) }
      found.push(diagnostic('unreadable-file', { problem }, place, hint))
    }
  return found
}

const surprisingColumns = (
  query: ResolvedQuery,
  columns: readonly Column[],
  givers: Givers,
  placeOfColumn: (index: number) => Span | null,
): readonly Diagnostic[] => [
  ...windowsOverOthers(query, columns),
  ...unstableKeys(query, columns, givers),
  ...untypedNulls(query, columns, placeOfColumn),
  ...changingColumns(query, columns, givers),
  ...mergeOverGroups(query.parsed, query.tree),
  ...comparedWithNull(query.parsed.body),
]

function rulesOf(
  { tree, canonical }: ResolvedQuery,
  { macrosIn }: DraftContext,
  parts: readonly string[],
): Rules {
  const ruleOf = (text: string) => definitionOf(text, macrosIn(canonical), ...parts)
  const former = (renames: readonly ColumnRename[]) =>
    tree === null ? [] : formerTexts(canonical, renames).map(ruleOf)
  return { rule: ruleOf(canonical), former }
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
  { modelNames, dir, sources }: DraftContext,
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
  if (details.subtype !== 'COLUMN_NOT_FOUND') return [found]
  // The engine names those alone whose name is a little like it, and one that was renamed may be any other.
  if (found.hint?.startsWith('available here') === true && references.sources.length > 0) {
    const tables = references.sources.map(
      (name) => `${name} has ${sources.columnsOf(name).join(', ')}`,
    )
    return [{ ...found, hint: tables.join('; ') }]
  }
  if (upstream === undefined) return [found]
  return [{ ...found, hint: `the columns of ${upstream.name} come from its data: ${hint}` }]
}

const columns = (count: number) => `${count} ${count === 1 ? 'column' : 'columns'}`

/**
 * `original`: names as the query gives them; `columns`: as the table has them. Columns of a star are passed over, for a
 * join of two tables repeats their keys on purpose.
 */
function renamedColumns(
  { source, header }: ParsedQuery,
  original: readonly Column[],
  columns: readonly Column[],
  placeOf: (index: number) => Span | null,
): readonly Diagnostic[] {
  if (header.expose !== undefined) return [] // there it is an error
  return original.flatMap(({ name: column }, i): readonly Diagnostic[] => {
    const name = columns[i]?.name ?? column
    const span = foldCase(name) === foldCase(column) ? null : placeOf(i)
    if (span === null) return []
    const hint = 'rename one of them with AS'
    return [diagnostic('renamed-column', { column, name }, { source, span }, hint)]
  })
}

/** A late row changes its group: the new one is added, and the old one stays. */
function appendOverGroups(
  { kind, source, header }: ParsedQuery,
  tree: SyntaxNode | null,
  columns: readonly Column[],
): readonly Diagnostic[] {
  const grouped = kind === 'append' && header.unique_key === undefined ? groupsOf(tree) : null
  if (grouped === null) return []
  const { node, groups, isAll, isWhole } = grouped
  const watermark = header.incremental?.value.column.name
  const items = (node['select_list'] ?? []) as readonly SyntaxNode[]
  const key = isWhole ? keyOf(items, groups, isAll, columns) : null
  const type = columns.find(
    ({ name }) => watermark !== undefined && sameName(name, watermark),
  )?.type
  const every = type !== undefined && /^(?:DATE|TIMESTAMP)/.test(type) ? 'day' : '100000'
  const isGrouped = key === null || key.some((name) => sameName(name, watermark ?? ''))
  const hint = isGrouped
    ? `write -- @kind: period and -- @period: ${every} of ${watermark}, which rebuilds whole periods`
    : `write -- @kind: merge and -- @unique_key: ${key.join(', ')}, which replaces groups that change`
  const place = { source, span: header.kind?.span ?? { start: 0, end: 0 } }
  return [diagnostic('append-over-groups', {}, place, hint)]
}

/** Which groups have changed, only a column by which they are made can tell. */
function mergeOverGroups(
  { kind, source, header }: ParsedQuery,
  tree: SyntaxNode | null,
): readonly Diagnostic[] {
  const { incremental, unique_key: key } = header
  const watermark = incremental?.value.column.name
  if (kind !== 'merge' || watermark === undefined || groupsOf(tree) === null) return []
  if (key?.value.some(({ name }) => sameName(name, watermark)) !== false) return []
  const place = { source, span: incremental!.span }
  const hint =
    'write -- @deletes: mirror instead of it, which compares all groups in each run; or group by it, and add it to @unique_key'
  return [diagnostic('merge-over-groups', { watermark }, place, hint)]
}

/** null: the query groups nothing. */
function groupsOf(tree: SyntaxNode | null) {
  const whole = tree?.['node'] as SyntaxNode | undefined
  if (whole === undefined) return null
  const { node, isWhole } = rowsGivenBy(whole)
  const groups = (node['group_expressions'] ?? []) as readonly SyntaxNode[]
  const isAll = node['aggregate_handling'] === 'FORCE_AGGREGATES'
  return groups.length === 0 && !isAll ? null : { node, groups, isAll, isWhole }
}

/** Names of the columns that hold what the query groups by; null where not all of them are in the list. */
function keyOf(
  items: readonly SyntaxNode[],
  groups: readonly SyntaxNode[],
  isAll: boolean,
  columns: readonly Column[],
): readonly string[] | null {
  if (items.length !== columns.length) return null
  const found = isAll
    ? items.flatMap((item, i) => (callsAggregate(item) ? [] : [i]))
    : groups.map((group) => indexOf(group, items))
  const names = found.map((i) => columns[i]?.name)
  return names.length > 0 && names.every((name) => name !== undefined) ? names : null
}

/** The commonest ones: a column too many in the hint is seen by who reads it. */
const AGGREGATES =
  /^(?:sum|count|count_star|countif|count_if|min|max|avg|mean|median|any_value|first|last|arg_m\w+|m\w+_by|list|array_agg|string_agg|bool_\w+|stddev\w*|var_\w+|quantile\w*|approx_\w+)$/i

const callsAggregate = (item: SyntaxNode): boolean =>
  nodesIn(item).some(({ function_name: name }) => typeof name === 'string' && AGGREGATES.test(name))

/** -1: the query groups by something that it does not give. */
function indexOf(group: SyntaxNode, items: readonly SyntaxNode[]): number {
  if (group['class'] === 'CONSTANT') return Number((group['value'] as SyntaxNode)['value']) - 1
  const name = columnNames(group)?.at(-1) ?? ''
  const byAlias = items.findIndex(
    ({ alias }) => name !== '' && foldCase(String(alias)) === foldCase(name),
  )
  return byAlias >= 0 ? byAlias : items.findIndex((item) => meaningOf(item) === meaningOf(group))
}
