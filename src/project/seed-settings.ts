// The .yml next to a seed: `columns` with their types in DuckDB, `csv`, `checks` and `warn`.

import { isMap, isScalar, type Node } from 'yaml'
import type { CsvSettings } from '../core/csv-settings.ts'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { DeclaredType } from '../core/project.ts'
import type { DeclaredCheck, SourceFile } from '../core/source-text.ts'
import { readCsvSettings, seedCsvKeys } from './csv-settings.ts'
import { checkKeys, readDeclaredChecks } from './declared-checks.ts'
import { entriesOf, readerInto, spanOf } from './members.ts'
import { dividedType } from './sources/tables.ts'
import { parseYaml } from './yaml-problems.ts'

export interface SeedSettings {
  readonly types: readonly DeclaredType[]
  readonly checks: readonly DeclaredCheck[]
  readonly csv?: CsvSettings
  readonly diagnostics: readonly Diagnostic[]
}

/** What it says about the seed; without a file, nothing. */
export function declarationsOf({ types = [], checks = [], csv }: Partial<SeedSettings> = {}) {
  return {
    types,
    ...(csv === undefined ? {} : { csv }),
    ...(checks.length === 0 ? {} : { checks }),
  }
}

/** What is wrong is among the diagnostics. */
export function parseSeedSettings(source: SourceFile): SeedSettings {
  const { document, problems } = parseYaml(source)
  const diagnostics: Diagnostic[] = [...problems]
  const root = document.contents as Node | null
  const types: DeclaredType[] = []
  const checks: DeclaredCheck[] = []
  let csv: CsvSettings | undefined
  const invalid = (key: string, expected: string, node: Node) => {
    const place = { source, span: spanOf(node) }
    diagnostics.push(diagnostic('config-invalid-value', { key, expected }, place))
  }
  if (diagnostics.length > 0 || root === null) return { types, checks, diagnostics }
  if (!isMap(root)) invalid('columns', 'a group of columns', root)
  for (const { key, value } of isMap(root) ? entriesOf(root) : []) {
    const name = textOf(key)
    const list = checkKeys.find((known) => known === name)
    if (list !== undefined) {
      const refuse = (node: Node | null, expected: string) => invalid(list, expected, node ?? key)
      checks.push(...readDeclaredChecks(list, value, source, refuse))
    } else if (name === 'csv' && value !== null) {
      csv = readCsvSettings(value, 'csv', seedCsvKeys, readerInto(diagnostics, source))
    } else if (name !== 'columns') {
      const place = { source, span: spanOf(key) }
      const hint = `available here: columns, csv, ${checkKeys.join(', ')}`
      diagnostics.push(diagnostic('config-unknown-key', { key: name ?? '' }, place, hint))
    } else if (!isMap(value))
      invalid('columns', 'a group of columns, such as id: INTEGER', value ?? key)
    else
      for (const pair of entriesOf(value)) {
        const column = textOf(pair.key)
        const type = textOf(pair.value)
        if (column === null || type === null || type === '') {
          const before = types.at(-1)
          const whole = before && dividedType([before.column, before.type], column ?? '')
          if (whole !== undefined) types.pop()
          const node = whole === undefined ? (pair.value ?? pair.key) : pair.key
          invalid(`columns.${column ?? ''}`, whole ?? 'a type, such as INTEGER', node)
        } else {
          const [nameSpan, typeSpan] = [spanOf(pair.key), spanOf(pair.value!)]
          types.push({ column, type, source, nameSpan, typeSpan })
        }
      }
  }
  return { types, checks, diagnostics, ...(csv === undefined ? {} : { csv }) }
}

/** A name may look like a number. */
function textOf(node: Node | null): string | null {
  if (!isScalar(node) || node.value === null) return null
  return typeof node.value === 'string' ? node.value : (node.source ?? null)
}
