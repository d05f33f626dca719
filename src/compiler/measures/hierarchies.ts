// `@hierarchy org: id parent manager_id` with its columns resolved: rows that are nodes of trees.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { Hierarchy } from '../../core/meaning.ts'
import { foldCase, isODataIdentifier, sameName } from '../../core/names.ts'
import type { Column } from '../../core/relation.ts'
import type { SourceFile, Span } from '../../core/source-text.ts'
import type { ModelHeader } from '../annotations/annotations.ts'
import type { NamedColumn } from '../annotations/reader.ts'
import { resolveColumns } from '../sql/named-columns.ts'

interface Found {
  readonly found: readonly Hierarchy[]
  readonly diagnostics: readonly Diagnostic[]
}

export function resolveHierarchies(
  source: SourceFile,
  header: ModelHeader,
  columns: readonly Column[],
): Found {
  const found: Hierarchy[] = []
  const diagnostics: Diagnostic[] = []
  const names = new Set<string>()
  for (const { value } of header.hierarchy ?? []) {
    const { name, node, parent } = value
    const resolved = resolveColumns(source, 'hierarchy', [node, parent], columns)
    const problem =
      resolved.diagnostics.length > 0
        ? resolved.diagnostics
        : mistakeIn({ source, header, columns, names }, name, node, parent)
    names.add(foldCase(name.name))
    diagnostics.push(...problem)
    const [nodeName, parentName] = resolved.names
    if (problem.length === 0) found.push({ name: name.name, node: nodeName!, parent: parentName! })
  }
  return { found, diagnostics }
}

interface Known {
  readonly source: SourceFile
  readonly header: ModelHeader
  readonly columns: readonly Column[]
  /** Of the hierarchies before this one. */
  readonly names: ReadonlySet<string>
}

function mistakeIn(
  { source, header, columns, names }: Known,
  name: NamedColumn,
  node: NamedColumn,
  parent: NamedColumn,
): readonly Diagnostic[] {
  const wrong = (problem: string, hint: string, span: Span) => [
    diagnostic('invalid-hierarchy', { problem }, { source, span }, hint),
  ]
  if (!isODataIdentifier(name.name))
    return wrong(
      `a hierarchy cannot be called "${name.name}"`,
      'use letters, digits and underscores',
      name.span,
    )
  if (names.has(foldCase(name.name)))
    return wrong(`there is another hierarchy "${name.name}"`, 'rename one of them', name.span)
  const typeOf = (column: NamedColumn) =>
    columns.find((one) => sameName(one.name, column.name))!.type
  const [type, parentType] = [typeOf(node), typeOf(parent)]
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
