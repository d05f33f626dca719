// What the header says about how a model is kept, by kind.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { kinds } from '../core/kinds.ts'
import { limits } from '../core/limits.ts'
import type {
  ColumnRename,
  EventsModel,
  MergeModel,
  Model,
  OnDuplicate,
  Period,
  ViewModel,
  Watermark,
} from '../core/model.ts'
import { foldCase, sameName } from '../core/names.ts'
import type { Column } from '../core/relation.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import { type Sql, sql } from '../core/sql.ts'
import type { Variables } from '../core/variables.ts'
import { definitionOf } from './definition-hash.ts'
import { keepOf } from './keep.ts'
import { bodyOf } from './variables.ts'
import type { NamedColumn } from './annotations/reader.ts'
import type { ModelHeader } from './annotations/annotations.ts'
import type { ParsedQuery } from './model-file.ts'
import { renamesOf } from './renames.ts'
import { resolveColumns } from './sql/named-columns.ts'

type QueryBase = Omit<ViewModel, 'kind' | 'rule'>

/** Hashes of what the values of a row follow from. */
export interface Rules {
  readonly rule: string
  /** What it was while columns had their former names. */
  readonly former: (renames: readonly ColumnRename[]) => readonly string[]
}

function rulesWith(
  { rule, former }: Rules,
  renames: readonly ColumnRename[],
  onDuplicate: OnDuplicate,
): Pick<MergeModel, 'rule' | 'formerRules'> {
  const formerRules = former(renames).map((one) => definitionOf(one, onDuplicate))
  const all = { rule: definitionOf(rule, onDuplicate) }
  return formerRules.length === 0 ? all : { ...all, formerRules }
}

/** `columns` are those that the body gives. */
export function finishKind(
  parsed: ParsedQuery,
  base: QueryBase,
  columns: readonly Column[],
  rules: Rules,
): { readonly model: Model; readonly diagnostics: readonly Diagnostic[] } {
  const { source, header, kind } = parsed
  if (kind === 'view' || kind === 'table')
    return { model: { ...base, kind, rule: rules.rule, ...rebuiltBy(header) }, diagnostics: [] }
  const found = [...reservedColumns(parsed, columns)]
  const resolve = (annotation: string, named: readonly NamedColumn[]) => {
    const { names, diagnostics } = resolveColumns(source, annotation, named, columns)
    found.push(...diagnostics)
    return names
  }
  const key = resolve('unique_key', header.unique_key?.value ?? [])
  const [first = '', ...more] = key // empty only with a diagnostic, which keeps the model from use
  const uniqueKey = [first, ...more] as const
  const watermark = watermarkOf(source, header, columns, resolve, found)
  const latest = header.on_duplicate?.value ?? null
  const [column = ''] = latest === null ? [] : resolve('on_duplicate', [latest])
  const onDuplicate: OnDuplicate = latest === null ? { take: 'none' } : { take: 'latest', column }
  const onSchemaChange = header.on_schema_change?.value ?? 'evolve'
  const { renames, mistakes } = renamesOf(source, header, kind, columns)
  found.push(...mistakes)
  const kept = { ...base, onSchemaChange, renames, ...rulesWith(rules, renames, onDuplicate) }
  switch (kind) {
    case 'append': {
      const needed = watermark ?? { column: '', lookback: null }
      const { keep, diagnostics } = keepOf(source, header, columns, watermark?.column ?? null)
      found.push(...(watermark === null ? [] : diagnostics))
      const model = { ...kept, kind, uniqueKey: key, watermark: needed, ...(keep && { keep }) }
      return { model, diagnostics: found }
    }
    case 'merge': {
      const deletes = mergeDeletes(header)
      found.push(...deletesOfOtherKind(source, header, 'close', kind))
      if (deletes === 'mirror' && header.incremental !== undefined) {
        const hint = 'deleted rows can only be detected when the whole source is read'
        const place = { source, span: header.incremental.span }
        const conflict = { one: 'incremental', other: 'deletes: mirror' }
        found.push(diagnostic('annotation-conflict', conflict, place, hint))
      }
      const model = { ...kept, kind, uniqueKey, onDuplicate, deletes, watermark }
      return { model, diagnostics: found }
    }
    case 'period': {
      const period = periodOf(source, header, columns, resolve, found)
      const { keep, diagnostics } = keepOf(source, header, columns, period.column || null)
      found.push(...(period.column === '' ? [] : diagnostics))
      const model = { ...kept, kind, uniqueKey: key, period, ...(keep && { keep }) }
      return { model, diagnostics: found }
    }
    case 'scd2':
      found.push(...sharedKey(source, header, uniqueKey), ...comparedKey(source, header))
      found.push(...deletesOfOtherKind(source, header, 'mirror', kind))
      return {
        model: {
          ...kept,
          kind,
          uniqueKey,
          onDuplicate,
          validFrom: validFromOf(source, header, columns, resolve, found),
          compare: header.compare === undefined ? null : resolve('compare', header.compare.value),
          deletes: header.deletes?.value === 'keep' ? 'keep' : 'close',
        },
        diagnostics: found,
      }
  }
}

const rebuiltBy = ({ rebuild }: ModelHeader): { readonly isRebuilt?: true } =>
  rebuild === undefined ? {} : { isRebuilt: true }

const mergeDeletes = ({ deletes }: ModelHeader): MergeModel['deletes'] =>
  deletes === undefined || deletes.value === 'close' ? null : deletes.value

/** A word of `@deletes` that says something for another kind. */
function deletesOfOtherKind(
  source: SourceFile,
  { deletes }: ModelHeader,
  word: 'mirror' | 'close',
  kind: 'merge' | 'scd2',
): readonly Diagnostic[] {
  if (deletes?.value !== word) return []
  const hint =
    kind === 'scd2'
      ? 'write close to end the versions of rows that are gone, which is the default, or keep'
      : 'write mirror to delete rows that are gone, or keep, which is the default'
  const conflict = { one: `deletes: ${word}`, other: `kind: ${kind}` }
  return [diagnostic('annotation-conflict', conflict, { source, span: deletes.span }, hint)]
}

/** Rows with one key never differ in it. */
function comparedKey(source: SourceFile, header: ModelHeader): readonly Diagnostic[] {
  const { compare, unique_key: key } = header
  const keys = namesOf(key?.value) ?? []
  if (compare === undefined || !namesOf(compare.value)!.every((name) => keys.includes(name)))
    return []
  const hint = 'name columns whose changes count, or leave @compare out: then all of them do'
  const names = compare.value.map(({ name }) => name).join(', ')
  return [diagnostic('compared-key', { key: names }, { source, span: compare.valueSpan }, hint)]
}

/** Times of which two that differ are never one TIMESTAMPTZ. */
const versionTimes = /^(?:DATE|TIMESTAMP(?: WITH TIME ZONE|_S|_MS)?)$/

function validFromOf(
  source: SourceFile,
  { valid_from: given, unique_key: key }: ModelHeader,
  columns: readonly Column[],
  resolve: Resolve,
  found: Diagnostic[],
): string | null {
  if (given === undefined) return null
  const [column] = resolve('valid_from', [given.value])
  if (column === undefined) return null
  const place = { source, span: given.valueSpan }
  const type = columns.find(({ name }) => name === column)?.type ?? ''
  if (!versionTimes.test(type)) {
    const hint = `cast it in the SELECT: CAST("${column}" AS TIMESTAMPTZ) AS "${column}"`
    found.push(diagnostic('invalid-valid-from', { column, type }, place, hint))
  }
  if (key?.value.some(({ name }) => sameName(name, column)) === true) {
    const conflict = { one: `valid_from: ${column}`, other: `unique_key: ${column}` }
    const hint = `leave ${column} out of @unique_key: the versions of a row share its key`
    found.push(diagnostic('annotation-conflict', conflict, place, hint))
  }
  return column
}

type Resolve = (annotation: string, named: readonly NamedColumn[]) => readonly string[]

/** Types whose values are compared, but of which a newer row need not have a greater one. */
const growsNot = /^BOOLEAN$|^(?:STRUCT|MAP|UNION)\(|\]$/

function watermarkOf(
  source: SourceFile,
  { incremental }: ModelHeader,
  columns: readonly Column[],
  resolve: Resolve,
  found: Diagnostic[],
): Watermark | null {
  if (incremental === undefined) return null
  const { column: named, lookback } = incremental.value
  const [column] = resolve('incremental', [named])
  if (column === undefined) return null
  const type = columns.find(({ name }) => name === column)?.type ?? ''
  const expected = lookbackOf(type)
  const place = { source, span: incremental.valueSpan }
  if (type === 'VARCHAR') {
    const hint = `make it a date in the SELECT: strptime(${column}, '%d.%m.%Y')::DATE AS ${column}; or, where it is like 2026-01-31, ${column}::DATE AS ${column}`
    found.push(diagnostic('text-watermark', { column }, place, hint))
  }
  if (growsNot.test(type)) {
    const hint = 'name a column with the time of each row, or a number that grows'
    found.push(diagnostic('unordered-watermark', { column, type }, place, hint))
  }
  if (lookback !== null && !expected.accepts(lookback)) {
    const wrong = { column, type, expected: expected.text }
    found.push(diagnostic('invalid-lookback', wrong, place))
  }
  return { column, lookback }
}

/** What is not there, or not fit for a period, has a diagnostic, which keeps the model from use. */
function periodOf(
  source: SourceFile,
  { period }: ModelHeader,
  columns: readonly Column[],
  resolve: (annotation: string, named: readonly NamedColumn[]) => readonly string[],
  found: Diagnostic[],
): Period {
  if (period === undefined) return { column: '', every: 'day', lookback: null }
  const { column: named, every, lookback } = period.value
  const [column = ''] = resolve('period', [named])
  const type = columns.find(({ name }) => name === column)?.type
  if (type === undefined) return { column, every, lookback }
  const place = { source, span: period.valueSpan }
  const expected = periodsOf(type)
  if (!expected.accepts(every)) {
    const wrong = { period: String(every), column, type, expected: expected.text }
    found.push(diagnostic('invalid-period', wrong, place, expected.hint(column)))
  } else if (lookback !== null && !acceptsLookback(type, lookback)) {
    const wrong = {
      column,
      type,
      expected: `${lookbackOf(type).text}, and at most ${longest(type)}`,
    }
    found.push(diagnostic('invalid-lookback', wrong, place))
  }
  return { column, every, lookback }
}

interface ExpectedPeriod {
  readonly text: string
  readonly accepts: (every: Period['every']) => boolean
  readonly hint: (column: string) => string
}

function periodsOf(type: string): ExpectedPeriod {
  const isNumber = (every: Period['every']) => typeof every === 'number'
  const such = (every: string) => (column: string) =>
    `write a line such as -- @period: ${every} of ${column}`
  if (/^(?:U?(?:TINY|SMALL|BIG|HUGE)INT|U?INTEGER)$/.test(type))
    return { text: 'a number', accepts: isNumber, hint: such('100000') }
  if (type === 'DATE')
    return {
      text: 'day, week, month, quarter or year',
      accepts: (every) => !isNumber(every) && every !== 'hour',
      hint: such('day'),
    }
  const units = 'hour, day, week, month, quarter or year'
  if (type.startsWith('TIMESTAMP'))
    return { text: units, accepts: (every) => !isNumber(every), hint: such('day') }
  const hint = 'cast it in the SELECT, or name a DATE, a TIMESTAMP or a whole number'
  return { text: 'of a date, a time or a whole number', accepts: () => false, hint: () => hint }
}

const longest = (type: string): string =>
  /^(?:DATE|TIMESTAMP)/.test(type) ? `${limits.lookbackYears} years` : String(limits.lookbackNumber)

/** One that is longer than there are rows is a slip, and may be further back than the engine can count. */
function acceptsLookback(type: string, lookback: string): boolean {
  if (!lookbackOf(type).accepts(lookback)) return false
  const [, number = '', unit = ''] = /^(\d+)\s*([a-z]*?)s?$/.exec(lookback) ?? []
  if (unit === '') return BigInt(number) <= BigInt(limits.lookbackNumber)
  return BigInt(number) <= BigInt(Math.floor(limits.lookbackYears * perYear[unit]!))
}

const perYear: Readonly<Record<string, number>> = {
  second: 31_557_600,
  minute: 525_960,
  hour: 8766,
  day: 365.25,
  week: 52.17,
  month: 12,
  year: 1,
}

/** What can be subtracted from a column of the type. */
function lookbackOf(type: string): {
  readonly text: string
  readonly accepts: (lookback: string) => boolean
} {
  if (/^(?:DATE|TIMESTAMP)/.test(type))
    return { text: 'a time, such as 1 hour', accepts: (lookback) => /[a-z]/.test(lookback) }
  if (/INT|^(?:DECIMAL|DOUBLE|FLOAT)/.test(type))
    return { text: 'a number', accepts: (lookback) => /^\d+$/.test(lookback) }
  return { text: 'left out', accepts: () => false }
}

function reservedColumns(
  { source, header, kind }: ParsedQuery,
  columns: readonly Column[],
): readonly Diagnostic[] {
  const place = { source, span: header.kind?.span ?? { start: 0, end: 0 } }
  const hint = 'rename the column in the SELECT with AS'
  return columns
    .filter(({ name }) => kinds[kind].addedColumns.some((added) => sameName(added.name, name)))
    .map(({ name }) => diagnostic('reserved-column', { column: name, kind }, place, hint))
}

/** Versions of one row share its key, so a set with that key fails from the first change on. */
function sharedKey(
  source: SourceFile,
  { expose }: ModelHeader,
  uniqueKey: readonly string[],
): readonly Diagnostic[] {
  const key = expose?.value.map(({ name }) => name) ?? []
  const shared = [...uniqueKey, 'is_current'].map(foldCase)
  const isShared = key.length > 0 && key.every((name) => shared.includes(foldCase(name)))
  if (expose === undefined || !isShared) return []
  const names = uniqueKey.join(', ')
  const hint = `write -- @expose ${names}, valid_from`
  return [diagnostic('expose-not-unique', { key: names }, { source, span: expose.span }, hint)]
}

/** Collected events exist nowhere else, so their table is never rebuilt. */
export function schemaChangeOfEvents(
  source: SourceFile,
  { on_schema_change: setting }: ModelHeader,
): {
  readonly onSchemaChange: EventsModel['onSchemaChange']
  readonly conflicts: readonly Diagnostic[]
} {
  if (setting?.value !== 'rebuild' && setting?.value !== 'keep')
    return { onSchemaChange: setting?.value ?? 'evolve', conflicts: [] }
  const conflict = { one: `on_schema_change: ${setting.value}`, other: 'kind: events' }
  const hint =
    setting.value === 'keep'
      ? 'write evolve: a table of events keeps columns that leave the list'
      : 'use evolve or fail: a table of events cannot be rebuilt'
  const place = { source, span: setting.span }
  return {
    onSchemaChange: 'evolve',
    conflicts: [diagnostic('annotation-conflict', conflict, place, hint)],
  }
}

/** What counts for the definition; the policy for changes of columns does not. */
export function settingsOf(source: SourceFile, header: ModelHeader, variables: Variables): unknown {
  const textOf = ({ valueSpan }: { readonly valueSpan: Span }) =>
    bodyOf(source, valueSpan, variables).body.text
  const { incremental, period, on_duplicate: onDuplicate, deletes, valid_from: validFrom } = header
  const isScd2 = header.kind?.value.toLowerCase() === 'scd2'
  const before = [namesOf(header.unique_key?.value), namesOf(header.expose?.value)]
  const kept = {
    incremental: incremental && [
      foldCase(incremental.value.column.name),
      incremental.value.lookback,
    ],
    period: period && [
      String(period.value.every),
      foldCase(period.value.column.name),
      period.value.lookback,
    ],
    onDuplicate: onDuplicate?.value && foldCase(onDuplicate.value.name),
    deletes: deletes?.value === (isScd2 ? 'close' : 'keep') ? undefined : deletes?.value,
    validFrom: validFrom && foldCase(validFrom.value.name),
    compare: namesOf(header.compare?.value) ?? undefined,
    check: header.check?.map(textOf),
    warn: header.warn?.map(textOf),
  }
  return [...before, kept]
}

/** null when the annotation is absent. */
export const namesOf = (columns: readonly NamedColumn[] | undefined) =>
  columns?.map(({ name }) => foldCase(name)) ?? null

/** What stands around the body where the model has more columns than the body gives. */
export function wrapping(kind: ParsedQuery['kind']): {
  readonly opening: Sql
  readonly closing: Sql
} {
  const { addedColumns } = kinds[kind]
  if (addedColumns.length === 0) return { opening: sql.empty, closing: sql.empty }
  return { opening: sql`SELECT *, ${sql.nulls(addedColumns)} FROM (`, closing: sql`\n)` }
}

/** The columns of a model that its body gives. */
export const columnsOfBody = (
  kind: ParsedQuery['kind'],
  columns: readonly Column[],
): readonly Column[] => columns.slice(0, columns.length - kinds[kind].addedColumns.length)
