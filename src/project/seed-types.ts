// The .yml next to a seed: `columns` with their types in DuckDB, `csv`, `checks` and `warn`.

import { type Node, isMap, isScalar } from 'yaml'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { DeclaredCheck } from '../core/source.ts'
import type { DeclaredType } from '../core/project.ts'
import type { CsvSettings } from '../core/csv-settings.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { checkKeys, readDeclaredChecks } from './declared-checks.ts'
import { readCsvSettings, seedCsvKeys } from './csv-settings.ts'
import { entriesOf, type Refuse, spanOf } from './members.ts'
import { parseYaml } from './yaml-problems.ts'

export interface SeedTypes {
  readonly types: readonly DeclaredType[]
  readonly checks: readonly DeclaredCheck[]
  readonly csv?: CsvSettings
  readonly diagnostics: readonly Diagnostic[]
}

export function parseSeedTypes(source: SourceFile): SeedTypes {
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
      const refuse: Refuse = (at, path, expected, hint) => {
        const span = 'range' in at ? spanOf(at as Node) : (at as Span)
        const parameters = { key: path, expected }
        diagnostics.push(diagnostic('config-invalid-value', parameters, { source, span }, hint))
        return null
      }
      csv = readCsvSettings(value, 'csv', seedCsvKeys, { source, refuse })
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
        if (column === null || type === null || type === '')
          invalid(`columns.${column ?? ''}`, 'a type, such as INTEGER', pair.value ?? pair.key)
        else {
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
