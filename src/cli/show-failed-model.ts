// Models that failed while they were built, as mistakes that a compile finds: the place, the line, a caret, a hint.

import type { ModelResult } from '../core/report/progress.ts'
import { offsetOf, type SourceFile } from '../core/source-text.ts'
import type { Look } from './paint.ts'
import { placeIn } from '../core/report/failure-place.ts'
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
      hint: HINTS.find(([pattern]) => pattern.test(message))?.[1],
    },
    look,
  )
}

const wordAt = (text: string): string =>
  /^(?:@?[\p{L}\p{N}_.]+|"[^"\n]*"|'[^'\n]*'|\S)/u.exec(text)?.[0] ?? ''

const HINTS: readonly (readonly [RegExp, string])[] = [
  [
    /^Conversion Error|^Could not (?:convert|cast)|^'.*' is not an? [A-Z]|^Casting value/s,
    'TRY_CAST gives NULL where a value does not fit',
  ],
  [/^(?:Date|Time) out of range/, 'try(make_date(…)) gives NULL where there is no such day'],
  [/unnamed struct/, "name the fields: {'id': id, 'name': name} instead of row(id, name)"],
  [/^VARIANT columns are not supported/, 'cast it: CAST(… AS JSON)'],
  [/^Overflow in /, 'cast one side to a wider type, such as BIGINT or HUGEINT'],
  [/^Could not parse string /, 'try_strptime gives NULL where a string does not fit'],
]
