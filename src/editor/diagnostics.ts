// What the compiler finds, as editors show it.

import type { Diagnostic } from '../core/diagnostics.ts'
import type { SourceFile } from '../core/source-text.ts'
import { type Diagnostic as Shown, DiagnosticSeverity } from 'vscode-languageserver/node'
import { lspRange } from './positions.ts'

/** `uriOf` names a file of the project by its path. */
export function shownDiagnostic(
  item: Diagnostic,
  files: readonly SourceFile[],
  uriOf: (path: string) => string,
): Shown {
  const { code, severity, message, hint, source, span } = item
  const related = relatedPlaces(item, files).map(({ source: at, start, words }) => ({
    location: { uri: uriOf(at.path), range: lspRange(at, { start, end: start }) },
    message: words,
  }))
  return {
    range: lspRange(source, span),
    severity: severity === 'error' ? DiagnosticSeverity.Error : DiagnosticSeverity.Warning,
    code,
    source: 'eider',
    message: hint === undefined ? message : `${message}\nhint: ${hint}`,
    ...(related.length === 0 ? {} : { relatedInformation: related }),
  }
}

/** Files and lines that a message names besides its own. */
function relatedPlaces({ code, message, source }: Diagnostic, files: readonly SourceFile[]) {
  const [, line] = /first in line (\d+)$/.exec(message) ?? []
  if (line !== undefined) {
    const start = source.text.split('\n', Number(line) - 1).join('\n').length + 1
    return [{ source, start: Number(line) === 1 ? 0 : start, words: 'first here' }]
  }
  if (code !== 'dependency-cycle' && code !== 'duplicate-model' && code !== 'exposed-set-clash')
    return []
  const words = new Set(message.split(/[\s:,"]+/))
  return files
    .filter((file) => file.path !== source.path)
    .filter(({ path }) => words.has(path) || words.has(modelOf(path)))
    .map((file) => ({ source: file, start: 0, words: modelOf(file.path) }))
}

/** `models/core/orders.sql` is core.orders. */
const modelOf = (path: string) =>
  path
    .split('/')
    .slice(1)
    .join('.')
    .replace(/\.\w+$/, '')

export function byFile(
  diagnostics: readonly Diagnostic[],
): ReadonlyMap<string, readonly Diagnostic[]> {
  const found = new Map<string, Diagnostic[]>()
  for (const item of diagnostics) {
    const { path } = item.source
    found.set(path, [...(found.get(path) ?? []), item])
  }
  return found
}
