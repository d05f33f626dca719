// Workbooks of Excel that a model reads by itself, with `read_xlsx`: what is refused of a source is refused here.

import { resolve } from 'node:path'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { grouped } from '../../core/counts.ts'
import { sql } from '../../core/sql.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { columnNames, nodesIn, type SyntaxNode } from '../../duckdb/syntax.ts'
import { filesOf } from '../file-hashes.ts'
import { spanAtByte } from '../hints/engine-diagnostic.ts'
import type { Explanation } from '../hints/engine-words.ts'
import type { ResolvedQuery } from '../resolve.ts'
import { checkSheetOfModel } from '../sources/check-sheet.ts'
import { rowsOfSheet, type SheetTable } from '../sources/rows-of-file.ts'
import { nodeLocation } from '../sql/references.ts'
import type { DraftContext } from './draft.ts'

/** Of calls in the query itself. */
export async function sheetsOfModel(
  { parsed: { source, body }, tree, canonical }: ResolvedQuery,
  context: DraftContext,
): Promise<readonly Diagnostic[]> {
  if (tree === null || !/read_xlsx/i.test(canonical)) return []
  const found: Diagnostic[] = []
  for (const node of nodesIn(tree)) {
    const call = node['function'] as SyntaxNode | undefined
    if (node['type'] !== 'TABLE_FUNCTION' || !isReader(call)) continue
    const at = { source, span: spanAtByte(body, nodeLocation(node)) }
    const { wrong, said } = await faultsOf(call, context)
    if (wrong !== null)
      found.push(diagnostic('unreadable-file', { problem: wrong.problem }, at, wrong.hint))
    else found.push(...said.map((warning) => warning(at)))
  }
  return found
}

const isReader = (call: SyntaxNode | undefined): call is SyntaxNode =>
  String(call?.['function_name']).toLowerCase() === 'read_xlsx'

type Faults = Awaited<ReturnType<typeof checkSheetOfModel>>

async function faultsOf(call: SyntaxNode, { connection, dir }: DraftContext): Promise<Faults> {
  const values = argumentsOf(call)
  const file = values.get('')
  const refused = (wrong: Explanation): Faults => ({ wrong, said: [] })
  const [sheet = null, range = null] = [values.get('sheet'), values.get('range')]
  if (file == null || values.get('sheet') === null || values.get('range') === null)
    return refused({
      problem:
        'read_xlsx gets its file, sheet or range from an expression, so that nothing checks the workbook',
      hint: 'write the path, the sheet and the range in quotes, or declare the file under sources in eider.yml, and read it as source.table',
    })
  if (range !== null && !/^[A-Z]+\d+:[A-Z]+\d+$/i.test(range))
    return refused({
      problem: `nothing checks the workbook, since the range "${range}" is not like A1:D20`,
      hint: 'write the first and the last cell; rows may come, so the last one may be far below',
    })
  if (file.includes('://')) return { wrong: null, said: [] }
  const paths = await filesOf(connection, dir, file)
  if (paths.length > 1)
    return refused({
      problem: `read_xlsx reads one workbook, and ${file} means ${grouped(paths.length)} files`,
      hint: 'declare it under sources in eider.yml, which reads all of them, and read it as source.table',
    })
  const location = paths[0] ?? resolve(dir, file)
  const table: SheetTable = { file, location, format: 'excel', sheet, range }
  const columns = await ifRefused(
    connection.columnsOf(sql`SELECT * FROM ${rowsOfSheet(dir, table)}`),
    () => null,
  )
  // What is wrong with the file itself, the query says.
  if (columns === null) return { wrong: null, said: [] }
  return checkSheetOfModel(connection, dir, table, columns, {
    isRaw: isTrue(values.get('all_varchar')),
    stopsAtBlank: range === null && !isFalse(values.get('stop_at_empty')),
    saysHeader: values.has('header'),
  })
}

const isTrue = (text: string | null | undefined) => /^(?:t|true|1)$/i.test(text ?? '')
const isFalse = (text: string | null | undefined) => /^(?:f|false|0)$/i.test(text ?? '')

/** By name in lower case, the first one by ''. null: it is no constant. */
function argumentsOf(call: SyntaxNode): ReadonlyMap<string, string | null> {
  const found = new Map<string, string | null>()
  for (const child of call['children'] as readonly SyntaxNode[]) {
    const isNamed = child['type'] === 'COMPARE_EQUAL'
    const name = isNamed ? (columnNames(child['left'])?.at(-1) ?? '') : String(child['alias'])
    found.set(name.toLowerCase(), constantOf(isNamed ? child['right'] : child))
  }
  return found
}

function constantOf(part: unknown): string | null {
  const node = part as SyntaxNode
  if (node['class'] === 'CAST') return constantOf(node['child'])
  if (node['class'] !== 'CONSTANT') return null
  const { value } = node['value'] as { readonly value?: string | number | null }
  return value === undefined || value === null ? null : String(value)
}
