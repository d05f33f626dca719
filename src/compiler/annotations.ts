// What the header of a model file says. One entry of the table below is one annotation.

import type { Interval, Node } from 'ohm-js'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import type { Kind } from '../core/model.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { didYouMean } from '../core/suggest.ts'
import { annotationGrammar } from './annotations.grammar.ts'
import type { Token } from './tokens.ts'

/** Kinds that a model file may have. */
export const fileKinds = ['view', 'table', 'merge', 'events'] as const satisfies readonly Kind[]
export type FileKind = (typeof fileKinds)[number]

interface AnnotationRule {
  /** Rule of the grammar that the value must match. */
  readonly value: 'word' | 'columns' | 'optionalColumns' | 'text'
  /** What a diagnostic says is expected. */
  readonly expected: string
  /** Kinds on which it means something. */
  readonly kinds: readonly FileKind[]
}

export const annotations = {
  kind: { value: 'word', expected: `a kind: ${fileKinds.join(', ')}`, kinds: fileKinds },
  unique_key: {
    value: 'columns',
    expected: 'one or more column names with commas between them',
    kinds: ['merge'],
  },
  expose: {
    value: 'optionalColumns',
    expected: 'nothing, or the columns of the key with commas between them',
    kinds: fileKinds,
  },
  tags: {
    value: 'columns',
    expected: 'one or more tags with commas between them',
    kinds: fileKinds,
  },
  description: { value: 'text', expected: 'a text', kinds: fileKinds },
} as const satisfies Record<string, AnnotationRule>

export type AnnotationName = keyof typeof annotations

/** A column that an annotation names, as written there. */
export interface NamedColumn {
  readonly name: string
  readonly span: Span
}

interface Annotation<Value> {
  readonly value: Value
  /** From the `@` to the end of the line. */
  readonly span: Span
  readonly valueSpan: Span
}

type ValueOf<N extends AnnotationName> = (typeof annotations)[N]['value'] extends 'word' | 'text'
  ? string
  : readonly NamedColumn[]

/** The annotations of one file that were understood. */
export type Header = { readonly [N in AnnotationName]?: Annotation<ValueOf<N>> }

export interface ParsedHeader {
  readonly header: Header
  /** Names that are there, also those whose value was not understood. */
  readonly mentioned: ReadonlySet<string>
  readonly diagnostics: readonly Diagnostic[]
}

/** Reads the annotations among the comments at the head of a file. The kind is not looked at here. */
export function parseHeader(source: SourceFile, comments: readonly Token[]): ParsedHeader {
  const found = new Map<string, Annotation<unknown>>()
  const mentioned = new Set<string>()
  const diagnostics: Diagnostic[] = []
  for (const comment of comments) {
    const text = /^--[ \t]*(@.*?)\s*$/.exec(comment.text)?.[1]
    if (text === undefined) continue
    const start = comment.start + comment.text.indexOf('@')
    const place = { source, span: { start, end: start + text.length } }
    const shape = parseShape(text, place)
    if ('code' in shape) diagnostics.push(shape)
    else if (mentioned.has(shape.name))
      diagnostics.push(diagnostic('duplicate-annotation', { name: shape.name }, place))
    else {
      mentioned.add(shape.name)
      const annotation = parseValue(shape, place)
      if ('code' in annotation) diagnostics.push(annotation)
      else found.set(shape.name, annotation)
    }
  }
  return { header: Object.fromEntries(found) as Header, mentioned, diagnostics }
}

/** Annotations that mean nothing on a model of this kind. */
export function misplacedAnnotations(
  source: SourceFile,
  header: Header,
  kind: FileKind,
): readonly Diagnostic[] {
  return Object.entries(header).flatMap(([name, { span }]) => {
    const rule: AnnotationRule = annotations[name as AnnotationName]
    if (rule.kinds.includes(kind)) return []
    const hint = `it is for ${rule.kinds.join(', ')}`
    return [diagnostic('annotation-not-for-kind', { name, kind }, { source, span }, { hint })]
  })
}

interface Place {
  readonly source: SourceFile
  readonly span: Span
}

interface Shape {
  readonly name: AnnotationName
  readonly value: string
  /** Offset of the value in the file. */
  readonly valueStart: number
}

function parseShape(text: string, { source, span }: Place): Shape | Diagnostic {
  const shape = annotationGrammar.match(text, 'annotation')
  if (shape.failed()) {
    const failure = { start: span.start + shape.getRightmostFailurePosition(), end: span.end }
    const expected = '@name: value'
    return diagnostic('annotation-syntax', { expected }, { source, span: failure })
  }
  const parts = semantics(shape)['parts']() as { name: Interval; value: Interval }
  const name = parts.name.contents.toLowerCase()
  if (isAnnotationName(name))
    return { name, value: parts.value.contents, valueStart: span.start + parts.value.startIdx }
  const names = Object.keys(annotations).map((known) => `@${known}`)
  const hint = didYouMean(`@${name}`, names) ?? `the annotations are ${names.join(', ')}`
  const place = { source, span: { start: span.start, end: span.start + parts.name.endIdx } }
  return diagnostic('unknown-annotation', { name }, place, { hint })
}

function parseValue(
  { name, value, valueStart }: Shape,
  { source, span }: Place,
): Annotation<unknown> | Diagnostic {
  const rule: AnnotationRule = annotations[name]
  const match = annotationGrammar.match(value, rule.value)
  if (match.failed()) {
    const start = valueStart + match.getRightmostFailurePosition()
    const failure = { start, end: Math.max(start + 1, span.end) }
    const place = { source, span: value === '' ? span : failure }
    return diagnostic('annotation-syntax', { expected: rule.expected }, place)
  }
  const valueSpan = { start: valueStart, end: span.end }
  if (rule.value === 'word' || rule.value === 'text') return { value, span, valueSpan }
  const columns = semantics(match)['columns']() as readonly NamedColumn[]
  const shifted = columns.map((column) => ({
    name: column.name,
    span: { start: valueStart + column.span.start, end: valueStart + column.span.end },
  }))
  return { value: shifted, span, valueSpan }
}

const isAnnotationName = (name: string): name is AnnotationName => Object.hasOwn(annotations, name)

const semantics = annotationGrammar
  .createSemantics()
  .addOperation<{ name: Interval; value: Interval }>('parts', {
    annotation: (_at, name, _separator, value) => ({ name: name.source, value: value.source }),
  })
  .addOperation<readonly NamedColumn[]>('columns', {
    columns: (first, _commas, rest) => [first, ...rest.children].flatMap(columnsOf),
    optionalColumns: (columns) => columns.children.flatMap(columnsOf),
    column(_either) {
      const { startIdx: start, endIdx: end, contents } = this.source
      const quoted = contents.startsWith('"')
      const name = quoted ? contents.slice(1, -1).replaceAll('""', '"') : contents
      return [{ name, span: { start, end } }]
    },
  })

const columnsOf = (node: Node) => node['columns']() as readonly NamedColumn[]
