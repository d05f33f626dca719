// `@hierarchy org: id parent manager_id` with its columns resolved, rows that are nodes of trees, and
// `@hierarchy geo: country > city`, values that are groups within groups.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { Hierarchy, LeveledHierarchy } from '../../core/meaning.ts'
import { foldCase, isODataIdentifier, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import type { NamedColumn } from '../annotations/reader.ts'
import { resolveColumns } from '../sql/named-columns.ts'

interface Found {
  readonly found: readonly Hierarchy[]
  readonly levels: readonly LeveledHierarchy[]
  readonly diagnostics: readonly Diagnostic[]
}

export function resolveHierarchies(
  source: SourceFile,
  header: ModelHeader,
  columns: readonly Column[],
): Found {
  const found: Hierarchy[] = []
  const levels: LeveledHierarchy[] = []
  const diagnostics: Diagnostic[] = []
  const names = new Set<string>()
  for (const { value } of header.hierarchy ?? []) {
    const { name } = value
    const named = 'levels' in value ? value.levels : [value.node, value.parent]
    const resolved = resolveColumns(source, 'hierarchy', named, columns)
    const known = { source, header, columns, names }
    const problem =
      resolved.diagnostics.length > 0
        ? resolved.diagnostics
        : (mistakeInName(known, name) ??
          ('levels' in value
            ? mistakeInLevels(known, name, named)
            : mistakeInNodes(known, value.node, value.parent)))
    names.add(foldCase(name.name))
    diagnostics.push(...problem)
    if (problem.length > 0) continue
    const [node, parent] = resolved.names
    if ('levels' in value) levels.push({ name: name.name, columns: resolved.names })
    else found.push({ name: name.name, node: node!, parent: parent! })
  }
  return { found, levels, diagnostics }
}

interface Known {
  readonly source: SourceFile
  readonly header: ModelHeader
  readonly columns: readonly Column[]
  /** Of the hierarchies before this one. */
  readonly names: ReadonlySet<string>
}

const mistake = ({ source }: Known, problem: string, hint: string, span: Span) => [
  diagnostic('invalid-hierarchy', { problem }, { source, span }, hint),
]

function mistakeInName(known: Known, { name, span }: NamedColumn): readonly Diagnostic[] | null {
  if (!isODataIdentifier(name))
    return mistake(
      known,
      `a hierarchy cannot be called "${name}"`,
      'use letters, digits and underscores',
      span,
    )
  return known.names.has(foldCase(name))
    ? mistake(known, `there is another hierarchy "${name}"`, 'rename one of them', span)
    : null
}

const typeOf = ({ columns }: Known, { name }: NamedColumn) =>
  columns.find((one) => sameName(one.name, name))!.type

function mistakeInLevels(
  known: Known,
  { name, span }: NamedColumn,
  levels: readonly NamedColumn[],
): readonly Diagnostic[] {
  // A path of a request is a column first.
  if (known.columns.some((column) => sameName(column.name, name)))
    return mistake(
      known,
      `the hierarchy "${name}" has the name of a column`,
      `rename it, such as by_${name}`,
      span,
    )
  const nested = levels.find((column) =>
    /^(?:STRUCT|MAP|UNION|VARIANT)|\]$/.test(typeOf(known, column)),
  )
  if (nested === undefined) return []
  const problem = `"${nested.name}" is ${typeOf(known, nested)}, and rows are grouped by single values`
  return mistake(known, problem, 'take one of the values that are in it', nested.span)
}

function mistakeInNodes(
  known: Known,
  node: NamedColumn,
  parent: NamedColumn,
): readonly Diagnostic[] {
  const { header } = known
  const wrong = (problem: string, hint: string, span: Span) => mistake(known, problem, hint, span)
  const [type, parentType] = [typeOf(known, node), typeOf(known, parent)]
  if (type !== parentType)
    return wrong(
      `"${node.name}" is ${type} and "${parent.name}" is ${parentType}, and one holds values of the other`,
      `cast it: ${parent.name}::${type}`,
      parent.span,
    )
  const { expose } = header
  const key = expose?.value ?? []
  if (expose === undefined || key.length !== 1 || !sameName(key[0]!.name, node.name))
    return wrong(
      `"${node.name}" is not the key, so several rows could be the same node`,
      `write -- @expose ${node.name}`,
      node.span,
    )
  return []
}
