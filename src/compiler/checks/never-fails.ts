// Checks that are written well and can never fail, or whose `up to` is not understood.

import type { Check, UpTo } from '../../core/model.ts'
import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { FilePlace } from '../../core/source-text.ts'
import { type ModelBody, sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { ifRefused } from '../../duckdb/errors.ts'
import { mostPercent, upToAtEnd, wayToBound } from '../annotations/check-syntax.ts'
import { isWord, tokenize } from '../sql/tokens.ts'

/** What is wrong with the `up to` of a check as it is written; `is`: its form, `query` for a file of checks/. */
export function wrongBound(
  { source, span }: FilePlace,
  is: Check['test']['is'],
): readonly Diagnostic[] {
  const text = source.text.slice(span.start, span.end)
  // Few checks have one, and tokenizing takes longer.
  if (!/up[ \t]+to/i.test(text)) return []
  const tokens = tokenize(text)
  const at = tokens.findLastIndex(
    (token, i) => isWord(token, 'up') && isWord(tokens[i + 1], 'to') && tokens[i - 1]?.text !== '.',
  )
  const first = tokens[at]
  if (first === undefined) return []
  const bound = text.slice(first.start).trim()
  const place = { start: span.start + first.start, end: span.start + first.start + bound.length }
  const wrong = (problem: string, hint: string) => [
    diagnostic('invalid-check', { problem }, { source, span: place }, hint),
  ]
  const upTo = upToAtEnd(bound)
  if (upTo === null)
    return wrong(`"${bound}" does not say how much a check may find`, wayToBound(bound))
  if (at === 0 && is !== 'query')
    return wrong(`"${bound}" follows no check`, `such as not_null(id) ${bound}`)
  const problem = whyNever(upTo, is)
  return problem === null ? [] : wrong(`"${bound}" ${problem}`, wayToBound(''))
}

/** null: it can fail. */
function whyNever({ most, unit }: UpTo, is: Check['test']['is']): string | null {
  if (unit === 'rows') {
    if (!Number.isInteger(most)) return 'counts parts of a row'
    return Number.isSafeInteger(most)
      ? null
      : 'is more than any table has, so the check never fails'
  }
  if (most >= 100) return 'lets all rows be wrong, so the check never fails'
  return most < mostPercent(is)
    ? null
    : 'lets all keys occur twice, so the check never fails: it is a share of the rows'
}

/** The words that a value of its own may have. */
const OF_VALUES = ['true', 'false', 'null', 'and', 'or', 'not', 'is', 'in', 'between', 'like']

/**
 * Whether the condition is the same for every row, and not false: it names nothing. One with a variable may be false
 * elsewhere.
 */
export async function neverFails(
  connection: Connection,
  body: ModelBody,
  { source, span }: FilePlace,
): Promise<boolean> {
  const tokens = tokenize(body.text).filter(({ kind }) => kind !== 'comment')
  const isValue = tokens.every(
    (token) =>
      token.kind !== 'quoted' &&
      (token.kind !== 'word' || OF_VALUES.includes(token.text.toLowerCase())),
  )
  if (!isValue || source.text.slice(span.start, span.end).includes('${')) return false
  // What cannot be evaluated fails in each run, which names it.
  return ifRefused(
    connection
      .row(sql`SELECT (${sql.body(body)}\n) IS FALSE AS fails`)
      .then((row) => row?.['fails'] !== true),
    () => false,
  )
}

export const sameForEachRow = (place: FilePlace): Diagnostic =>
  diagnostic(
    'invalid-check',
    { problem: 'the condition names no column and is never false, so the check never fails' },
    place,
    'write what must hold for each row, such as amount > 0',
  )
