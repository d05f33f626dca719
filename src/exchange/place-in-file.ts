// A mistake in a text that an import has made is one of the imported file, at the place that the line came from.

import type { Diagnostic } from '../core/diagnostics.ts'
import { annotationName } from '../core/names.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import type { SaidOfModel } from './format.ts'
import { lineOfHeader } from './header.ts'
import type { ImportedFile } from './import-file.ts'

/** Mistakes of other files stay where they are. */
export function placedInFile(
  found: Diagnostic,
  files: readonly ImportedFile[],
  source: SourceFile,
): Diagnostic {
  const file = files.find(({ path }) => path === found.source.path)
  return file === undefined ? found : { ...found, source, span: spanIn(file.said, lineAt(found)) }
}

function lineAt({ source: { text }, span: { start } }: Diagnostic): string {
  const from = text.lastIndexOf('\n', start - 1) + 1
  const end = text.indexOf('\n', start)
  return text.slice(from, end < 0 ? text.length : end).trim()
}

function spanIn({ lines, promise, span }: SaidOfModel, text: string): Span {
  const columns = promise?.columns ?? []
  const ofColumn = (isIts: (written: string) => boolean) =>
    columns.find(({ name }) => isIts(annotationName(name)))?.span
  const line = lines.find((one) => lineOfHeader(one) === text)
  const declared = text.replace(/^-- @contract: /, '')
  const found =
    line === undefined
      ? ofColumn((name) => declared.startsWith(`${name} `))
      : (line.span ?? ofColumn((name) => name === line.subject))
  return found ?? span
}
