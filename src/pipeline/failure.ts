// Why a model was not built, in one line. The run goes on with its siblings.

import { basename } from 'node:path'
import { offsetOfByte, type Span, placeText } from '../core/source-text.ts'
import { EnvironmentError } from '../core/failures.ts'
import { hintOfSystem, isDiskFull, problemOfSystem } from '../files/system-errors.ts'
import { limits } from '../core/limits.ts'
import type { Model, PlacedAnnotation } from '../core/model.ts'
import { type ModelName, sameName } from '../core/names.ts'
import type { ReadBy } from '../core/report/planned-changes.ts'
import type { Sql } from '../core/sql.ts'
import { DamagedRowsError } from '../store/table-storage.ts'
import { UnstorableError } from '../store/table-storage.ts'
import { DatabaseError } from '../duckdb/errors.ts'
import { mixedLineEnds } from '../compiler/csv/line-ends.ts'
import { wayOfCommas } from '../compiler/csv/options.ts'
import { unreadCell, wordOf } from '../compiler/sources/sheet-values.ts'
import {
  onlyToken,
  outputColumnSpan,
  isSymbol,
  isWord,
  nameOf,
  type Token,
  tokenize,
} from '../compiler/sql/tokens.ts'

/** The annotation that asks for the impossible, or the column; or the message begins with its place in the project. */
type FailurePlace = PlacedAnnotation | 'placed' | { readonly column: string }

/** A rule of the tool that a model broke: a duplicate key, a column that vanished, a table that would be lost. */
export class ModelFailure extends Error {
  override name = 'ModelFailure'
  readonly at: FailurePlace
  /** Of a set that its readers could no longer read. */
  readonly readBy: ReadBy | undefined
  constructor(message: string, at: FailurePlace = 'kind', readBy?: ReadBy) {
    super(message)
    this.at = at
    this.readBy = readBy
  }
}

export const fullRefreshOf = (name: ModelName): string => `eider run ${name} --full-refresh`

/**
 * One line with the place in the model: `models/mart/a.sql:4:3: …`. A seed has no text to point at. `selected`: what the
 * run is about, where that may be the reason. Throws errors that are no model's: our own bugs, and an environment in
 * which no other model can be built.
 */
export function explainFailure(
  error: unknown,
  model: Model,
  statement: Sql | null,
  selected: ReadonlySet<ModelName> | null = null,
): string {
  if (error instanceof ModelFailure)
    return error.at === 'placed'
      ? error.message
      : `${placeOfFailure(model, error.at)}: ${error.message}`
  if (error instanceof UnstorableError)
    return explainFailure(new ModelFailure(error.message), model, statement)
  if (error instanceof DamagedRowsError)
    return explainFailure(new ModelFailure(`${error.message}; ${error.hint}`), model, statement)
  if (!(error instanceof DatabaseError)) throw error
  // After a FATAL error DuckDB refuses everything until the file is opened again.
  if (error.details.type === 'FATAL') throw error
  // A seed is the place itself.
  const problem =
    model.kind === 'seed' ? `${problemIn(error)}${csvWay(error)}` : problemOfRows(error)
  const message = withDisk(error, problem)
  const place =
    statement === null ? null : (placeOf(error, model, statement) ?? causeOf(error, model))
  return `${place ?? startPlace(model)}: ${message}${leftBehind(error, model, selected)}`
}

export const withDisk = (error: DatabaseError, problem: string): string =>
  isDiskFull(error) ? `the disk is full: ${problem}` : problem

/** What DuckDB complains about in rows that it reads, with the file of a CSV and what reads it. */
export const problemOfRows = (error: DatabaseError): string =>
  `${csvFileIn(error)}${problemIn(error)}${csvWay(error)}`

/** The compile bound the model to its inputs as the project has them; a run that leaves them out binds it to their tables. */
function leftBehind(
  { details }: DatabaseError,
  { name, dependsOn }: Model,
  selected: ReadonlySet<ModelName> | null,
): string {
  const left = dependsOn.filter((input) => selected?.has(input) === false)
  if (details.type !== 'Binder' || left.length === 0) return ''
  return `; not selected, and possibly out of date: ${left.join(', ')}; select the upstream models too: --select +${name}`
}

function placeOfFailure(model: Model, at: Exclude<FailurePlace, 'placed'>): string {
  if (typeof at === 'string') return annotationPlace(model, at)
  const span = columnPlace(model, at.column)
  return span === null ? annotationPlace(model, 'kind') : placeText(model.source, span.start)
}

function causeOf({ details }: DatabaseError, model: Model): string | null {
  const span = details.position === null ? causePlace(model, details.message) : null
  return span && placeText(model.source, span.start)
}

/** Where the annotation stands; where it is not written, the one that says the kind, or the start of the SELECT. */
function annotationPlace(model: Model, at: PlacedAnnotation): string {
  const span = model.places[at] ?? model.places.kind
  return span === undefined ? startPlace(model) : placeText(model.source, span.start)
}

const startPlace = (model: Model): string =>
  placeText(model.source, 'body' in model ? model.body.span.start : 0)

/** What a statement or a wait ends with once the run is aborted: a lake has other words for the interrupt. */
export const isInterruption = (error: unknown, signal: AbortSignal): boolean =>
  signal.aborted &&
  (error instanceof DatabaseError ||
    error === signal.reason ||
    (error as Error).name === 'AbortError')

/** What stops the run as a whole: the disk or DuckDB failed. Other errors come back as they are. */
export function toEnvironmentError(error: unknown, memoryLimit: string | null = null): unknown {
  const failure = (code: string, message: string, hint = KEPT) =>
    new EnvironmentError(code, message, { hint, cause: error })
  if (error instanceof DatabaseError) {
    if (isDiskFull(error))
      return failure('disk-full', withDisk(error, problemIn(error)), `${KEPT}; ${FREEING_HINT}`)
    const isOurs = !['IO', 'FATAL', 'Out of Memory'].includes(error.details.type)
    if (isOurs) return error
    if (error.details.type === 'Out of Memory') {
      const limit = memoryLimit === null ? 'there is' : `memory_limit allows (${memoryLimit})`
      return failure(
        'warehouse-failed',
        `the run needs more memory than ${limit}`,
        'raise memory_limit in eider.yml; 256MB is a sensible minimum',
      )
    }
    return failure('warehouse-failed', `the warehouse failed: ${problemIn(error)}`)
  }
  if (!(error instanceof Error && 'syscall' in error)) return error
  const code = isDiskFull(error) ? 'disk-full' : 'file-failed'
  return failure(code, problemOfSystem(error), hintOfSystem(error))
}

const KEPT = 'nothing was lost: what was committed and published is kept'
/** It needs room too, for the new file. */
const FREEING_HINT =
  '"eider maintain" gives back what deleted rows have left in a warehouse, once there is room for a copy of the rest'

/** What DuckDB complains about, in one line. */
export function problemIn(error: DatabaseError): string {
  const text = error.details.message
    .replace(/^TransactionContext Error: /, '')
    // What it was that the engine refuses everything after.
    .replace(/^Failed: database has been invalidated [^\n]*\n+Original error: "([^]*)"\s*$/, '$1')
    // The reason is on the next line.
    .replace(/Failed to commit DuckLake transaction\.\n/, '')
  const first =
    csvProblem(text) ??
    jsonProblem(text) ??
    sheetProblem(text) ??
    castProblem(text) ??
    text.split('\n')[0] ??
    ''
  const candidates = error.details.candidates.filter((candidate) => candidate !== '')
  return candidates.length === 0 ? first : `${first} (did you mean ${candidates.join(' or ')}?)`
}

const SQL_TYPES: Readonly<Record<string, string>> = {
  INT8: 'TINYINT',
  INT16: 'SMALLINT',
  INT32: 'INTEGER',
  INT64: 'BIGINT',
  INT128: 'HUGEINT',
  UINT8: 'UTINYINT',
  UINT16: 'USMALLINT',
  UINT32: 'UINTEGER',
  UINT64: 'UBIGINT',
  BOOL: 'BOOLEAN',
}

/** In the types of SQL: DuckDB names those of its memory. */
function castProblem(text: string): string | null {
  const pattern =
    /^Could not convert string ('[^]*') to (\w+)(?: when casting from source column (.+))?$/
  const [, value, type = '', column] = pattern.exec(text.split('\n')[0]!) ?? []
  if (value === undefined) return null
  const name = SQL_TYPES[type] ?? type
  const article = /^[AEIOU]/.test(name) && !/^U[A-Z]*INT/.test(name) ? 'an' : 'a'
  return `${value} is not ${article} ${name}${column === undefined ? '' : ` (column ${column})`}`
}

/** For a CSV file, DuckDB says where on the first line, and what at the end of the paragraph. */
function csvProblem(text: string): string | null {
  const [, line, rest = ''] = /^CSV Error on Line: (\d+)\n([\s\S]*?)(?:\n\s*\n|$)/.exec(text) ?? []
  const what = rest.split('\n').findLast((words) => words !== '')
  if (line === undefined || what === undefined) return dividedLines(text)
  const date = otherDate(text, what)
  if (date !== null) return `line ${line}: ${date}`
  return `line ${line}: ${what.slice(0, limits.problemLength)}`
}

/** The types of JSON are those of the first rows. */
function jsonProblem(text: string): string | null {
  const [, path = '', at, what = ''] =
    /^JSON transform error in file "([^"]+)", in ((?:line|record\/value) \d+): ([^\n]*)/.exec(
      text,
    ) ?? []
  if (at === undefined) return null
  const [, key] = /has unknown key "(.*)"$/.exec(what) ?? []
  const [, value] = /^Failed to cast value to numerical: (.*)$/.exec(what) ?? []
  const told =
    key !== undefined
      ? `it has "${key}", which the first rows do not have`
      : value !== undefined
        ? `${value} is not a number, as the first rows have there`
        : what || 'a value is not of the type that the first rows have'
  const problem = told.slice(0, limits.problemLength)
  return `${basename(path)}, ${at}: ${problem}; FROM read_json(…, sample_size = -1) in a model looks at all rows`
}

/** The types of a sheet are those of its first row. */
function sheetProblem(text: string): string | null {
  const wrong = unreadCell(text)
  if (wrong === null) return null
  const { cell, shown, type } = wrong
  const is = type === 'DOUBLE' ? 'a number or a date' : wordOf(type)
  return `the cell ${cell} is '${shown}', which is not ${is}, as the first cell of its column is; correct it, end the table above it by "range", or read all cells as text: TRY_CAST(… AS ${type}) … FROM read_xlsx(…, all_varchar = true)`
}

function dividedLines(text: string): string | null {
  const mixed = mixedLineEnds(text, '')
  return mixed === null ? null : `${mixed.problem}; ${mixed.hint}`
}

/** Forms of dates that DuckDB does not find by itself. */
const FORMS = [
  [/^\d{8}$/, '%Y%m%d'],
  [/^\d{1,2}-[A-Z][a-z]{2}-\d{4}$/i, '%d-%b-%Y'],
  [/^\d{1,2} [A-Z][a-z]{2} \d{4}$/i, '%d %b %Y'],
] as const

/** DuckDB finds one form for all dates of a file, and names it only among its settings. */
function otherDate(text: string, what: string): string | null {
  const [, column, value, type = ''] =
    /^Error when converting column "(.+)"\. Could not convert string "([^\n]*)" to '(DATE|TIMESTAMP)/.exec(
      what,
    ) ?? []
  if (value === undefined) return null
  const name = type === 'DATE' ? 'date' : 'timestamp'
  const known = FORMS.find(([values]) => values.test(value))?.[1]
  if (type === 'DATE' && known !== undefined)
    return `the column "${column}" has ${value}, which is no date; csv: {date_format: "${known}"} reads it`
  const [, form = ''] =
    new RegExp(`^ *${name}_format = (.*?) *(?:\\((?:Auto-Detected|Set By User)\\))?$`, 'm').exec(
      text,
    ) ?? []
  const expected = form === '' ? '' : ` of the form ${form}`
  return `the column "${column}" has ${value}, which is no ${name}${expected}; write all of them in one form, or take the column as text: columns: {${column}: VARCHAR}`
}

const CSV_ERROR = 'CSV Error on Line'

/** Of languages other than English, and marks of lists. */
const YES_OR_NO =
  /^(?:ja?|nein|nee|nej|oui|non?|s[ií]?|sim|n[aã]o|n|o|x|v|tak|nie|ano|ne|igen|nem|kyll[aä]|ei|wahr|falsch|vrai|faux|vero|falso|verdadero|waar|onwaar|on|off|да|нет)$/i

/** What to write next to `csv` of a source or in the .yml of a seed, where a value is not of its column's type. */
function csvWay({ details }: DatabaseError): string {
  if (!details.message.startsWith(CSV_ERROR)) return ''
  const [, value, type = ''] =
    /Could not convert string "([^\n]*)" to '(\w+)/.exec(details.message) ?? []
  if (value === undefined) return ''
  const isNumber = /INT|DECIMAL|DOUBLE|FLOAT/.test(type)
  const areThousands = /^-?\d{1,3}(,\d{3})+$/.test(value)
  const areDecimals = /^-?[\d.]*\d,\d+$/.test(value)
  if (isNumber && (areThousands || areDecimals)) {
    const way = wayOfCommas({ areThousands, areDecimals, haveDots: value.includes('.') })
    return `; csv: ${way}${areThousands && areDecimals ? '' : ' reads it'}`
  }
  if (type === 'BOOLEAN' && YES_OR_NO.test(value)) {
    const [, column = ''] = /converting column "(.+?)"\. Could/.exec(details.message) ?? []
    return `; columns: {${column}: VARCHAR} reads it as text, for ${column} = '${value}' in a model`
  }
  const isWord = /^[^\d"{}[\]]{1,12}$/.test(value)
  // In double quotes YAML would take the \N of a dump for another sign.
  return isWord ? `; csv: {nulls: ['${value.replaceAll("'", "''")}']} reads it as NULL` : ''
}

/** The file of a line that is at fault. A pattern stands for several files. */
function csvFileIn({ details }: DatabaseError): string {
  if (!details.message.startsWith(CSV_ERROR)) return ''
  const [, path] = /^ *file = (.+)$/m.exec(details.message) ?? []
  return path === undefined ? '' : `${basename(path)}, `
}

/** Positions count from the start of the statement that the body was put into, in bytes, in parser errors in characters. */
function placeOf(error: DatabaseError, model: Model, statement: Sql): string | null {
  const { position, type } = error.details
  if (position === null || !('body' in model)) return null
  const { body } = model
  const text = statement.inline()
  const start = text.indexOf(body.text)
  const at = type === 'Parser' ? position : offsetOfByte(text, position)
  if (start < 0 || at < start || at > start + body.text.length) return null
  const offset = body.spanInFile({ start: at - start, end: at - start }).start
  return placeText(body.source, offset)
}

/** Where the model gives the column its name or its type. */
function columnPlace(model: Model, column: string): Span | null {
  if ('body' in model) {
    const span = outputColumnSpan(model.body.text, column)
    return span === null ? null : model.body.spanInFile(span)
  }
  if (model.kind !== 'events') return null
  const tokens = tokenize(model.source.text).filter(({ kind }) => kind !== 'comment')
  const isColumn = (token: Token, i: number) =>
    (i === 0 || isSymbol(tokens[i - 1], ',')) && sameName(nameOf(token) ?? '', column)
  const at = tokens.findIndex(isColumn)
  return tokens[at + 1] ?? null
}

const OPERATORS: Readonly<Record<string, string>> = {
  addition: '+',
  subtraction: '-',
  multiplication: '*',
  division: '/',
}

/** What the message is about, where the query has it once. */
function causePlace(model: Model, message: string): Span | null {
  if (!('body' in model)) return null
  const { body } = model
  const isCall = (name: string) => (token: Token, next: Token | undefined) =>
    isWord(token, name) && isSymbol(next, '(')
  const [, operation = ''] = /^Overflow in (\w+) of/.exec(message) ?? []
  const operator = OPERATORS[operation]
  const found =
    operator !== undefined
      ? onlyToken(body.text, (token, _, before) => isSymbol(token, operator) && endsValue(before))
      : message.startsWith('Date out of range')
        ? onlyToken(body.text, isCall('make_date'))
        : message.startsWith('Could not parse string')
          ? onlyToken(body.text, isCall('strptime'))
          : onlyToken(body.text, isCall('error'))
  return found && body.spanInFile(found)
}

/** The `*` of `SELECT *` and of `count(*)` multiplies nothing. */
const endsValue = (token: Token | undefined): boolean =>
  token !== undefined &&
  !isWord(token, 'select') &&
  (token.kind !== 'symbol' || isSymbol(token, ')') || isSymbol(token, ']'))
