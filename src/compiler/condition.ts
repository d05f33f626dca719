// A condition that somebody gives on the command line: one expression over the columns of a model, which reads nothing else
// and gives the same for the same row. It is bound against an empty table with these columns.

import { type Diagnostic, diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { Extensions } from '../core/extensions.ts'
import type { Model } from '../core/model.ts'
import { foldCase, splitModelName } from '../core/names.ts'
import { ModelBody, type Sql, sql } from '../core/sql.ts'
import { Database } from '../duckdb/database.ts'
import { ifRefused } from '../duckdb/errors.ts'
import { isPlainCondition } from './checks/resolve-checks.ts'
import { engineDiagnostic } from './hints/engine-diagnostic.ts'
import { changingCall } from './row-filter.ts'
import { nullComparison } from './sql/null-comparison.ts'
import { isSymbol, nameOf, tokenize } from './sql/tokens.ts'

export interface Condition {
  readonly body: ModelBody
  /** Columns of the model that it may use, as the model spells them. */
  readonly columns: readonly string[]
}

/** What stands in a message where the file of a mistake does. */
const PATH = 'CONDITION'

/** Throws DiagnosticsError. */
export async function parseCondition(
  text: string,
  model: Pick<Model, 'name' | 'columns'>,
  extensions: Extensions | undefined,
): Promise<Condition> {
  const source = { path: PATH, text }
  const body = ModelBody.of(source, { start: 0, end: text.length })
  const place = { source, span: body.span }
  const wrong = (problem: string, hint: string) =>
    new DiagnosticsError([diagnostic('invalid-check', { problem }, place, hint)])
  if (text.trim() === '' || !isPlainCondition(body))
    throw wrong(
      `a condition is a single expression over the columns of ${model.name}, without subqueries`,
      'such as "customer_id = 7"',
    )
  const changing = changingCall(text)
  if (changing !== null)
    throw wrong(
      `${changing} gives another result each time, so nobody could say which rows are meant`,
      'write the value itself',
    )
  const nothing = nullComparison(text)
  if (nothing !== null)
    throw wrong(`"${nothing.written}" is NULL for every row`, `write ${nothing.meant}`)
  const condition = body.asExpression()
  const mistake = await mistakeIn(condition, model, extensions)
  if (mistake !== null) throw new DiagnosticsError([mistake])
  return { body: condition, columns: columnsIn(text, model) }
}

async function mistakeIn(
  body: ModelBody,
  model: Pick<Model, 'name' | 'columns'>,
  extensions: Extensions | undefined,
): Promise<Diagnostic | null> {
  await using database = await Database.open({ path: ':memory:', threads: 1, extensions })
  await using connection = await database.connect()
  const rows = sql`(SELECT ${sql.nulls(model.columns)} LIMIT 0)`
  const before = sql`SELECT (`
  const query = sql`${before}${sql.body(body)}\n) FROM ${rows} AS ${aliasOf(model)}`
  const bound = await ifRefused(connection.columnsOf(query), ({ details }) =>
    engineDiagnostic(details, body, before.inline()),
  )
  if ('code' in bound) return bound
  const type = bound[0]?.type ?? ''
  const place = { source: body.source, span: body.span }
  if (type === 'BOOLEAN') {
    // A SELECT takes aggregates and windows, and a row has neither.
    const where = sql`SELECT 1 FROM ${rows} AS ${aliasOf(model)} WHERE (`
    const ofRow = sql`${where}${sql.body(body)}\n)`
    const found = await ifRefused(connection.columnsOf(ofRow), ({ details }) =>
      engineDiagnostic(details, body, where.inline()),
    )
    return 'code' in found ? found : null
  }
  const problem = `the condition is ${type}, but must be BOOLEAN`
  return diagnostic('invalid-check', { problem }, place, 'compare it with something')
}

/** Under which a condition may name the table. */
export const aliasOf = ({ name }: Pick<Model, 'name'>): Sql => sql.ident(splitModelName(name).table)

/** Rather one too many: a word may be the field of a STRUCT as well. */
function columnsIn(text: string, { columns }: Pick<Model, 'columns'>): readonly string[] {
  const tokens = tokenize(text).filter(({ kind }) => kind !== 'comment')
  const words = new Set(
    tokens.flatMap((token, i) => {
      const name = isSymbol(tokens[i + 1], '(') ? null : nameOf(token)
      return name === null ? [] : [foldCase(name)]
    }),
  )
  return columns.map(({ name }) => name).filter((name) => words.has(foldCase(name)))
}
