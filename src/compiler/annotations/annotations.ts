// What the header of a model file says. One entry of the table below is one annotation.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { kinds } from '../../core/kinds.ts'
import {
  type Kind,
  type Model,
  placedAnnotations,
  type SeedModel,
  timeUnits,
} from '../../core/model.ts'
import { positionOf, type SourceFile, type Span, type FilePlace } from '../../core/source-text.ts'
import { didYouMean } from '../../core/suggest.ts'
import { checkExamples, misreadCheck } from './check-syntax.ts'
import {
  type AnnotationValues,
  inLowerCase,
  longTime,
  type Misread,
  readParts,
  readValue,
} from './read-annotation.ts'
import type { Token } from '../sql/tokens.ts'
import { foreignAnnotation } from '../hints/other-tools.ts'

export type FileKind = Exclude<Kind, SeedModel['kind']>

interface KindRule {
  readonly needs: 'unique_key' | 'incremental' | 'period' | null
  /** The annotations that are for some kinds only, and for this one. */
  readonly takes: readonly (
    | 'unique_key'
    | 'incremental'
    | 'period'
    | 'on_duplicate'
    | 'deletes'
    | 'valid_from'
    | 'compare'
    | 'keep'
    | 'rebuild'
    | 'on_schema_change'
    | 'renamed_from'
  )[]
}

export const kindRules: Readonly<Record<FileKind, KindRule>> = {
  view: { needs: null, takes: [] },
  table: { needs: null, takes: ['rebuild'] },
  append: {
    needs: 'incremental',
    takes: ['unique_key', 'incremental', 'keep', 'on_schema_change', 'renamed_from'],
  },
  merge: {
    needs: 'unique_key',
    takes: [
      'unique_key',
      'incremental',
      'on_duplicate',
      'deletes',
      'on_schema_change',
      'renamed_from',
    ],
  },
  period: {
    needs: 'period',
    takes: ['period', 'unique_key', 'keep', 'on_schema_change', 'renamed_from'],
  },
  scd2: {
    needs: 'unique_key',
    takes: [
      'unique_key',
      'on_duplicate',
      'deletes',
      'valid_from',
      'compare',
      'on_schema_change',
      'renamed_from',
    ],
  },
  events: { needs: null, takes: ['keep', 'on_schema_change', 'renamed_from'] },
}

export const fileKinds = Object.keys(kindRules) as readonly FileKind[]

const kindsThatTake = (name: KindRule['takes'][number]) =>
  fileKinds.filter((kind) => kindRules[kind].takes.includes(name))

interface AnnotationRule {
  readonly value: keyof AnnotationValues
  /** What a diagnostic names as expected. */
  readonly expected: string
  readonly kinds: readonly FileKind[]
  /** It may be given several times. */
  readonly repeats?: true
}

const queryKinds = fileKinds.filter((kind) => kinds[kind].hasQuery)
const checkRule = {
  value: 'check',
  expected: `a condition in SQL, or ${Object.values(checkExamples).join(', ')}`,
  kinds: fileKinds,
  repeats: true,
} as const satisfies AnnotationRule

const shownRule = {
  value: 'columnText',
  expected: '<column or measure>: <text>',
  kinds: fileKinds,
  repeats: true,
} as const satisfies AnnotationRule

export const annotations = {
  kind: { value: 'word', expected: `a kind: ${fileKinds.join(', ')}`, kinds: fileKinds },
  unique_key: {
    value: 'columns',
    expected: 'one or more column names, separated by commas',
    kinds: kindsThatTake('unique_key'),
  },
  incremental: {
    value: 'incremental',
    expected:
      'a column, optionally followed by "lookback 1 hour" (second to year, or a plain number)',
    kinds: kindsThatTake('incremental'),
  },
  period: {
    value: 'period',
    expected: `a unit (${timeUnits.join(', ')}, or a number of whole numbers), "of" and a column, optionally followed by "lookback 3 days"`,
    kinds: kindsThatTake('period'),
  },
  on_duplicate: {
    value: 'onDuplicate',
    expected: 'fail or latest(column)',
    kinds: kindsThatTake('on_duplicate'),
  },
  deletes: {
    value: 'deletes',
    expected: 'keep, mirror (for merge) or close (for scd2)',
    kinds: kindsThatTake('deletes'),
  },
  valid_from: { value: 'column', expected: 'a column', kinds: kindsThatTake('valid_from') },
  compare: {
    value: 'columns',
    expected: 'one or more column names, separated by commas',
    kinds: kindsThatTake('compare'),
  },
  keep: {
    value: 'keep',
    expected: 'an age (hour to year), such as "90 days", optionally followed by "of <column>"',
    kinds: kindsThatTake('keep'),
  },
  rebuild: { value: 'rebuild', expected: 'always', kinds: kindsThatTake('rebuild') },
  on_schema_change: {
    value: 'onSchemaChange',
    expected: 'evolve, keep (for scd2), rebuild or fail',
    kinds: kindsThatTake('on_schema_change'),
  },
  renamed_from: {
    value: 'rename',
    expected: '<column>: <the name that it had>',
    kinds: kindsThatTake('renamed_from'),
    repeats: true,
  },
  expose: {
    value: 'optionalColumns',
    expected: 'nothing, or the columns of the key, separated by commas',
    kinds: fileKinds,
  },
  fresh: {
    value: 'fresh',
    expected: 'a time, such as "10 s", "5 minutes" or "1 day"',
    kinds: fileKinds,
  },
  contract: {
    value: 'contract',
    expected: 'nothing, key(columns), or one column with its type: name TYPE [NOT NULL]',
    kinds: fileKinds,
    repeats: true,
  },
  tags: {
    value: 'words',
    expected: 'one or more tags, separated by commas',
    kinds: fileKinds,
  },
  depends_on: {
    value: 'models',
    expected: 'models (schema.name), separated by commas',
    kinds: queryKinds,
  },
  check: checkRule,
  warn: checkRule,
  description: { value: 'text', expected: 'a text', kinds: fileKinds },
  column: {
    value: 'columnText',
    expected: '<column>: <text>',
    kinds: fileKinds,
    repeats: true,
  },
  owner: { value: 'text', expected: 'a text', kinds: fileKinds },
  measure: {
    value: 'measure',
    expected:
      '<name>: <aggregates or other measures>, optionally followed by "where" and a condition',
    kinds: fileKinds,
    repeats: true,
  },
  dimension: {
    value: 'columns',
    expected: 'one or more column names, separated by commas',
    kinds: fileKinds,
    repeats: true,
  },
  rollup: {
    value: 'rollup',
    expected: `a grain (${timeUnits.join(', ')}), dimensions, or both, separated by commas`,
    kinds: fileKinds,
    repeats: true,
  },
  time: { value: 'column', expected: 'a column', kinds: fileKinds },
  hierarchy: {
    value: 'hierarchy',
    expected:
      '<name>: <the key> parent <the column with the key of the row above>, or columns from the coarsest level to the finest, with ">" between them',
    kinds: fileKinds,
    repeats: true,
  },
  label: shownRule,
  unit: shownRule,
  format: shownRule,
  text: {
    value: 'columnPair',
    expected: '<column>: <the column with its text>',
    kinds: fileKinds,
    repeats: true,
  },
} as const satisfies Record<string, AnnotationRule>

export type AnnotationName = keyof typeof annotations

export interface Annotation<Value> {
  readonly value: Value
  /** From the `@` to the end of the line. */
  readonly span: Span
  readonly valueSpan: Span
}

type ValueOf<N extends AnnotationName> = AnnotationValues[(typeof annotations)[N]['value']]

/** The annotations of one file that were understood. */
export type ModelHeader = {
  readonly [N in AnnotationName]?: (typeof annotations)[N] extends { readonly repeats: true }
    ? readonly Annotation<ValueOf<N>>[]
    : Annotation<ValueOf<N>>
}

interface ParsedHeader {
  readonly header: ModelHeader
  /** Names that are present, including those whose value was not understood. */
  readonly mentioned: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the annotations among the comments at the head of a file. The kind is not looked at here. */
export function parseHeader(source: SourceFile, comments: readonly Token[]): ParsedHeader {
  const found = new Map<string, Annotation<unknown> | readonly Annotation<unknown>[]>()
  const mentioned = new Map<string, number>()
  const diagnostics: Diagnostic[] = []
  for (const comment of comments) {
    const text = /^--[ \t]*(@.*?)\s*$/.exec(comment.text)?.[1]
    if (text === undefined) continue
    const start = comment.start + comment.text.indexOf('@')
    const place = { source, span: { start, end: start + text.length } }
    const shape = parseShape(text, place)
    if ('code' in shape) diagnostics.push(shape)
    else if (mentioned.has(shape.name) && !repeats(shape.name)) {
      const line = positionOf(source, mentioned.get(shape.name)!).line
      const hint = 'delete one of the two'
      diagnostics.push(diagnostic('duplicate-annotation', { name: shape.name, line }, place, hint))
    } else {
      if (!mentioned.has(shape.name)) mentioned.set(shape.name, start)
      const annotation = parseValue(shape, place)
      if ('code' in annotation) diagnostics.push(annotation)
      else if (!repeats(shape.name)) found.set(shape.name, annotation)
      else found.set(shape.name, [found.get(shape.name) ?? [], annotation].flat())
    }
  }
  const names = new Set(mentioned.keys())
  return { header: Object.fromEntries(found) as ModelHeader, mentioned: names, diagnostics }
}

/** The places of the annotations that a run may have to reject. */
export function placesOf(header: ModelHeader): Model['places'] {
  const given = placedAnnotations.flatMap((name) => {
    const [annotation] = [header[name]].flat()
    return annotation === undefined ? [] : [[name, annotation.span] as const]
  })
  return Object.fromEntries(given)
}

export function misplacedAnnotations(
  source: SourceFile,
  header: ModelHeader,
  kind: FileKind,
): readonly Diagnostic[] {
  return Object.entries(header).flatMap(([name, given]) => {
    const rule: AnnotationRule = annotations[name as AnnotationName]
    if (rule.kinds.includes(kind)) return []
    const hint = `it is for ${rule.kinds.join(', ')}`
    return [given]
      .flat()
      .map(({ span }) =>
        diagnostic('annotation-not-for-kind', { name, kind }, { source, span }, hint),
      )
  })
}

interface Shape {
  readonly name: AnnotationName
  readonly value: string
  /** Offset of the value in the file. */
  readonly valueStart: number
}

function parseShape(text: string, { source, span }: FilePlace): Shape | Diagnostic {
  const parts = readParts(text)
  if ('failedAt' in parts) {
    const failure = { start: span.start + parts.failedAt, end: span.end }
    const expected = '@name: value'
    return diagnostic(
      'annotation-syntax',
      { expected },
      { source, span: failure },
      hintOfCall(text),
    )
  }
  const name = parts.name.toLowerCase()
  if (isAnnotationName(name))
    return { name, value: parts.value, valueStart: span.start + parts.valueStart }
  const names = Object.keys(annotations).map((known) => `@${known}`)
  const hint =
    foreignAnnotation(name, parts.value.trim()) ??
    didYouMean(`@${name}`, names) ??
    `the annotations are ${names.join(', ')}`
  const place = { source, span: { start: span.start, end: span.start + parts.nameEnd } }
  return diagnostic('unknown-annotation', { name }, place, hint)
}

/** `@expose(id)` is how a call or a decorator looks. */
function hintOfCall(text: string): string | undefined {
  const [, name = '', value = ''] = /^@(\w+)[ \t]*\((.*)\)$/.exec(text) ?? []
  return isAnnotationName(name.toLowerCase()) ? `write -- @${name}: ${value}` : undefined
}

function parseValue(
  { name, value: plain, valueStart }: Shape,
  { source, span }: FilePlace,
): Annotation<unknown> | Diagnostic {
  const rule: AnnotationRule = annotations[name]
  // A text keeps its blanks.
  const isText = rule.value === 'text' || rule.value === 'columnText'
  const value = isText ? source.text.slice(valueStart, span.end) : plain
  const read = readValue(rule.value, value, valueStart)
  if ('failedAt' in read) {
    const start = valueStart + read.failedAt
    const failure = { start, end: Math.max(start + 1, span.end) }
    const place = { source, span: value === '' ? span : failure }
    const [, meant = longTime(value)] = /^=\s*(.+)/.exec(value) ?? []
    const first = name === 'contract' && value[read.failedAt] === ','
    const hint = first
      ? `write a line for each column: -- @contract: ${value.slice(0, read.failedAt).trim()}`
      : meant === undefined
        ? misread({ name, form: rule.value, value, at: read.failedAt })
        : `write -- @${name}: ${meant}`
    return diagnostic('annotation-syntax', { expected: rule.expected }, place, hint)
  }
  const valueSpan = { start: valueStart, end: span.end }
  return { value: read.value, span, valueSpan }
}

function misread({ name, form, value, at }: Misread): string | undefined {
  if (form === 'check') return misreadCheck(value, at)
  const lower = inLowerCase(form, value)
  return lower === null ? undefined : `its words are in lower case: -- @${name}: ${lower}`
}

const repeats = (name: AnnotationName) => (annotations[name] as AnnotationRule).repeats === true
const isAnnotationName = (name: string): name is AnnotationName => Object.hasOwn(annotations, name)
