// What a model must be to be served through OData.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Model } from '../core/model.ts'
import { entitySetName, foldCase, isODataIdentifier, LONGEST_ODATA_NAME } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span, FilePlace } from '../core/source-text.ts'
import { nodesIn, type SyntaxNode } from '../duckdb/syntax.ts'
import { type Location, nodeLocation } from './sql/references.ts'

interface ExposedModel extends FilePlace {
  readonly key: readonly string[]
  /** The key that the model itself declares. */
  readonly uniqueKey: readonly string[]
  /** The columns under the names that the query gives. */
  readonly columns: readonly Column[]
  /** Where a column comes from; null where the text does not say. */
  readonly placeOfColumn: (index: number) => Span | null
}

/** The key of an exposed model; names, types and doubles among its columns. */
export function checkExposed(model: ExposedModel): readonly Diagnostic[] {
  return [...checkKey(model), ...checkColumns(model)]
}

/** The type of an entity set must have a key (CSDL 6.5), and without one odata2ts writes nothing at all. */
function checkKey({ source, span, key, uniqueKey, columns }: ExposedModel): readonly Diagnostic[] {
  if (key.length > 0) return []
  const example = columns.slice(0, 2).map(({ name }) => name)
  const hint =
    uniqueKey.length > 0
      ? `write -- @expose ${uniqueKey.join(', ')}`
      : `name the columns that identify a row, such as -- @expose ${example.join(', ')}`
  return [diagnostic('exposed-without-key', {}, { source, span }, hint)]
}

function checkColumns(model: ExposedModel): readonly Diagnostic[] {
  const { source, columns } = model
  const names = new Set<string>()
  return columns.flatMap((column, i): readonly Diagnostic[] => {
    const place = () => ({ source, span: model.placeOfColumn(i) ?? model.span })
    const { name, type } = column
    if (names.has(foldCase(name))) {
      const hint = 'rename one of them with AS'
      return [diagnostic('duplicate-column', { column: name }, place(), hint)]
    }
    names.add(foldCase(name))
    if (!isODataIdentifier(name)) {
      const hint = `write AS ${aliasFor(name, i, columns)} after it`
      const unnamed = /[()']|^\d/.test(name)
      return [
        unnamed
          ? diagnostic('exposed-unnamed-column', { column: name }, place(), hint)
          : diagnostic('exposed-name', { name, what: 'the column' }, place(), hint),
      ]
    }
    if (type !== 'HUGEINT' && type !== 'UHUGEINT') return []
    const hint = 'cast it: sum(…)::BIGINT'
    return [diagnostic('exposed-huge-integer', { column: name, type }, place(), hint)]
  })
}

/** Entity sets are named by models, with a dot as an underscore; two models may come to one name. */
export function checkEntitySets(models: readonly Model[]): readonly Diagnostic[] {
  const owners = new Map<string, SourceFile>()
  return models.flatMap(({ name, source, expose }): readonly Diagnostic[] => {
    if (expose === null) return []
    const { span } = expose
    const set = entitySetName(name)
    if (!isODataIdentifier(set)) {
      const plain = source.path.split('/').map((part) => part.replaceAll(/[^\p{L}\p{N}_.]+/gu, '_'))
      const isSame = plain.join('/') === source.path
      const hint =
        set.length > LONGEST_ODATA_NAME
          ? 'give the file a shorter name'
          : isSame
            ? 'begin the name of the folder with a letter'
            : `rename the file to ${plain.join('/')}`
      const name = { name: set, what: 'the entity set' }
      return [diagnostic('exposed-name', name, { source, span }, hint)]
    }
    // DuckDB, which serves them, does not tell names apart by case.
    const owner = owners.get(foldCase(set))
    owners.set(foldCase(set), owner ?? source)
    if (owner === undefined) return []
    const hint = 'rename one of the two files'
    return [diagnostic('exposed-set-clash', { set, other: owner.path }, { source, span }, hint)]
  })
}

/**
 * The byte at which each of `count` output columns begins; null where a star, or a query without its own SELECT list,
 * leaves it open.
 */
export const columnLocations = (tree: SyntaxNode, count: number): readonly Location[] =>
  columnItems(tree, count).map((item) => (item === null ? null : firstLocation(item)))

/** The items of the SELECT list that give the columns; null: a star gives it. */
export function columnItems(tree: SyntaxNode, count: number): readonly (SyntaxNode | null)[] {
  let node = tree['node'] as SyntaxNode
  while (node['left'] !== undefined) node = node['left'] as SyntaxNode
  const items = (node['select_list'] ?? []) as readonly SyntaxNode[]
  const isStar = (item: SyntaxNode) => item['class'] === 'STAR'
  const before = items.findIndex(isStar)
  if (before < 0 && items.length === count) return items
  const after = items.length - 1 - items.findLastIndex(isStar)
  return Array.from({ length: count }, (_, i) => {
    if (i < before) return items[i] ?? null
    return before >= 0 && i >= count - after ? (items.at(i - count) ?? null) : null
  })
}

/** DuckDB places an operator at its sign, so the leftmost place inside counts. */
function firstLocation(item: SyntaxNode | undefined): Location {
  const all = nodesIn(item)
    .map(nodeLocation)
    .filter((at) => at !== null)
  return all.length === 0 ? null : Math.min(...all)
}

function aliasFor(name: string, index: number, columns: readonly Column[]): string {
  const letters = name
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '_')
    .replaceAll(/^[_\d]+|_+$/g, '')
  const taken = columns.some((column) => foldCase(column.name) === letters)
  return letters === '' || taken ? `column_${index + 1}` : letters
}

interface UnevenOperation {
  readonly left: number
  readonly right: number
  /** The place of the first column of the right SELECT. */
  readonly at: Location
}

/** The first one whose two lists are both written out; null where a star leaves it open. */
export function unevenOperation(tree: SyntaxNode | null): UnevenOperation | null {
  for (const { left, right } of nodesIn(tree)) {
    if (left === undefined || right === undefined) continue
    const [one, other] = [left, right].map((side) => columnsOf(side as SyntaxNode))
    if (one != null && other != null && one !== other)
      return { left: one, right: other, at: firstLocation(listOf(right as SyntaxNode)?.[0]) }
  }
  return null
}

function listOf(node: SyntaxNode): readonly SyntaxNode[] | undefined {
  let first = node
  while (first['left'] !== undefined) first = first['left'] as SyntaxNode
  return first['select_list'] as readonly SyntaxNode[] | undefined
}

function columnsOf(node: SyntaxNode): number | null {
  const list = listOf(node)
  return list === undefined || list.some((item) => item['class'] === 'STAR') ? null : list.length
}
