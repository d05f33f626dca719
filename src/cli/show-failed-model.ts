// Models that failed while they were built, as mistakes that a compile finds: the place, the line, a caret, a hint.

import type { ModelResult } from '../core/report/progress.ts'
import { offsetOf, type SourceFile } from '../core/source.ts'
import type { Look } from './paint.ts'
import { placeIn } from './run-lines.ts'
import { showFrame } from './show-diagnostic.ts'

/** `sources`: the files whose text may be shown, by path. */
export function showFailedModel(
  { model, because }: ModelResult,
  sources: ReadonlyMap<string, SourceFile>,
  look: Look,
): string {
  const found = placeIn(because)
  const message = found?.message ?? because
  const source = (found && sources.get(found.path)) ?? null
  const start = found && source ? offsetOf(source, found) : 0
  const length = source === null ? 0 : wordAt(source.text.slice(start)).length
  return showFrame(
    {
      place: found && `${found.path}:${found.line}:${found.column}`,
      severity: 'error',
      subject: model,
      message,
      source,
      span: { start, end: start + length },
      hint: hintFor(message),
    },
    look,
  )
}

const wordAt = (text: string): string =>
  /^(?:@?[\p{L}\p{N}_.]+|"[^"\n]*"|'[^'\n]*'|\S)/u.exec(text)?.[0] ?? ''

function hintFor(message: string): string | undefined {
  if (/^Conversion Error|Could not (?:convert|cast)/.test(message))
    return 'TRY_CAST gives NULL where a value does not fit'
  return undefined
}
