// What may be typed next in a model: annotations and their values, models, columns, variables.

import { type CompletionItem, CompletionItemKind, type Position } from 'vscode-languageserver/node'
import type { CompiledProject, Model } from '../core/model.ts'
import { foldCase, sameName } from '../core/names.ts'
import type { EditedProject, LastCompile } from './edited-project.ts'
import { written } from './edits.ts'
import type { EditorFile } from './open-projects.ts'
import { offsetAt } from './positions.ts'
import { columnItem, type NamedRelation, relationsOf } from './relations.ts'
import { proposalsAt } from './settings.ts'
import { expectedAfter, tablesIn } from './sql-scope.ts'
import {
  type AnnotationName,
  annotations,
  type FileKind,
  fileKinds,
} from '../compiler/annotations/annotations.ts'
import { checkExamples } from '../compiler/annotations/check-syntax.ts'
import { rowsAbout } from '../files/documentation.ts'

/** What the last compile knew: nobody waits for the next one while typing. */
export async function completionAt(
  { project, path }: EditorFile,
  position: Position,
): Promise<CompletionItem[]> {
  const text = await project.read(path)
  if (text === null) return []
  const offset = offsetAt(text, position)
  if (path === 'eider.yml')
    return proposalsAt(text, offset).map(({ label, detail, isValue }) => ({
      label,
      documentation: detail,
      kind: isValue ? CompletionItemKind.Value : CompletionItemKind.Property,
      insertText: isValue ? label : `${label}: `,
    }))
  const understood = project.understood ?? (await project.fresh())
  if (understood === null || !path.endsWith('.sql')) return []
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1
  const typed = text.slice(lineStart, offset)
  if (/^\s*--/.test(typed)) {
    const own = project.lastKnown(path)
    return annotationItems(typed, { text, own, tables: relationsOf(project, understood) })
  }
  return queryItems(text, offset, project, understood)
}

function queryItems(
  text: string,
  offset: number,
  project: EditedProject,
  understood: LastCompile,
): CompletionItem[] {
  const expected = expectedAfter(text.slice(0, offset))
  const relations = relationsOf(project, understood)
  switch (expected.is) {
    case 'nothing':
      return []
    case 'variable':
      return Array.from(understood.project.files.variables ?? [], ([label, { is }]) => ({
        label,
        detail: is,
        kind: CompletionItemKind.Variable,
      }))
    case 'table':
      return tableItems(relations, expected.schema)
    case 'column':
      return columnItems(text, relations, expected.of, understood.compiled)
  }
}

function tableItems(relations: readonly NamedRelation[], schema: string | null): CompletionItem[] {
  return relations.flatMap(({ name, detail }) => {
    const [own = '', table = ''] = name.split('.')
    if (schema !== null && !sameName(schema, own)) return []
    const label = schema === null ? name : table
    const insertText = label.split('.').map(written).join('.')
    return [{ label, detail, insertText, kind: CompletionItemKind.Class }]
  })
}

function columnItems(
  text: string,
  relations: readonly NamedRelation[],
  of: string | null,
  { macros }: CompiledProject,
): CompletionItem[] {
  const byName = new Map(relations.map((relation) => [foldCase(relation.name), relation]))
  const tables = tablesIn(text).filter(({ alias }) => of === null || sameName(alias, of))
  const items = tables.flatMap(({ alias, model, columns }) => {
    const known = byName.get(foldCase(model ?? ''))?.columns.map(columnItem)
    return (known ?? columns.map((label) => ({ label, kind: CompletionItemKind.Field }))).map(
      (item) => ({ ...item, labelDetails: { description: alias } }),
    )
  })
  const own = new Map(items.map((item) => [foldCase(item.label), item]))
  if (of !== null) return [...own.values()]
  const aliases = tables.map(({ alias, model }) => ({
    label: alias,
    detail: model ?? '',
    kind: CompletionItemKind.Variable,
  }))
  const calls = macros.map(({ name }) => ({ label: name, kind: CompletionItemKind.Function }))
  return [...own.values(), ...aliases, ...calls]
}

// Annotations while they are typed: their names for the kind of the model, and what may follow each.

interface HeaderContext {
  readonly text: string
  readonly own: Model | null
  readonly tables: readonly NamedRelation[]
}

const WORDS: Partial<Record<AnnotationName, readonly string[]>> = {
  deletes: ['keep', 'mirror'],
  rebuild: ['always'],
  on_schema_change: ['evolve', 'keep', 'rebuild', 'fail'],
  on_duplicate: ['fail', 'latest('],
}

const TAKES_COLUMNS: readonly AnnotationName[] = [
  'unique_key',
  'expose',
  'incremental',
  'column',
  'on_duplicate',
  'check',
  'warn',
]

/** `typed`: the line up to the cursor. */
function annotationItems(typed: string, { text, own, tables }: HeaderContext): CompletionItem[] {
  if (/^\s*--\s*@?\w*$/.test(typed)) return nameItems(text, typed.includes('@'))
  const [, given = '', value = ''] = /^\s*--\s*@(\w+)\s*:?\s*(.*)$/.exec(typed) ?? []
  const name = given.toLowerCase() as AnnotationName
  if (!Object.hasOwn(annotations, name)) return []
  const words = (labels: readonly string[], kind: CompletionItemKind) =>
    labels.map((label) => ({ label, kind }))
  if (name === 'kind')
    return fileKinds.map((label) => ({
      label,
      kind: CompletionItemKind.EnumMember,
      documentation: rowsAbout(label)[0]?.cells.at(-1) ?? '',
    }))
  const [, referenced] = /references\([^)]*?,\s*([\w."]*)$/i.exec(value) ?? []
  if (name === 'depends_on' || referenced !== undefined) {
    const [, model] = /^(\w+\.\w+)\.\w*$/.exec(referenced ?? '') ?? []
    const found = tables.find((table) => model !== undefined && sameName(table.name, model))
    if (found !== undefined) return found.columns.map(columnItem)
    return words(
      tables.map((table) => table.name),
      CompletionItemKind.Class,
    )
  }
  const isCheck = name === 'check' || name === 'warn'
  const calls = isCheck && !value.includes('(') ? Object.values(checkExamples) : []
  const columns = TAKES_COLUMNS.includes(name) ? (own?.columns ?? []).map(columnItem) : []
  return [
    ...words(WORDS[name] ?? [], CompletionItemKind.EnumMember),
    ...columns,
    ...words(calls, CompletionItemKind.Function),
  ]
}

/** The annotations that have an effect on the kind, and are not there yet. */
function nameItems(text: string, hasSign: boolean): CompletionItem[] {
  const kind = (/^--\s*@kind\s*:?\s*(\w+)/im.exec(text)?.[1]?.toLowerCase() ?? 'table') as FileKind
  return Object.entries(annotations).flatMap(([name, rule]) => {
    const isThere = !('repeats' in rule) && new RegExp(`^--\\s*@${name}\\b`, 'im').test(text)
    const isForKind = name === 'kind' || rule.kinds.some((one) => one === kind)
    if (isThere || !isForKind) return []
    const label = `@${name}`
    const separator = name === 'column' || name === 'expose' || name === 'contract' ? ' ' : ': '
    return [
      {
        label,
        kind: CompletionItemKind.Keyword,
        detail: rule.expected,
        documentation: rowsAbout(label)[0]?.cells.at(-1) ?? '',
        insertText: `${hasSign ? name : label}${separator}`,
        filterText: hasSign ? name : label,
      },
    ]
  })
}
