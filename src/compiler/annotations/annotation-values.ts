// Values of annotations, as the grammar reads them: one case for each rule that a value may have.

import * as ohm from 'ohm-js'
import type { Grammar, Interval, MatchResult, Node } from 'ohm-js'
import type { Comparison, OnSchemaChange } from '../../core/model.ts'
import type { Span } from '../../core/source.ts'
import type { SqlValue } from '../../core/sql.ts'
import { readInOneStep } from '../../grammar/token-rules.ts'
import { annotationRecipe } from './annotation-recipe.ts'

interface GrammarMaker {
  /** As the bundles that ohm's own command line writes call it; the package has no types for it. */
  readonly makeRecipe: (recipe: unknown) => Grammar
}

const { makeRecipe } = ohm as unknown as GrammarMaker

/** The grammar of annotations.grammar.ts. */
export const annotationGrammar = makeRecipe(JSON.parse(annotationRecipe))

// Rules whose text alone matters to the actions, or whose places do.
readInOneStep(annotationGrammar, [
  'name',
  'separator',
  'value',
  'word',
  'text',
  'condition',
  'bare',
  'comma',
])

/** A column that an annotation names, as written there. */
export interface NamedColumn {
  readonly name: string
  readonly span: Span
}

/** By the rule of the grammar that the value matches. */
export interface AnnotationValues {
  readonly word: string
  readonly text: string
  readonly columns: readonly NamedColumn[]
  readonly optionalColumns: readonly NamedColumn[]
  readonly incremental: { readonly column: NamedColumn; readonly lookback: string | null }
  /** The column of `latest`; null for `fail`. */
  readonly onDuplicate: NamedColumn | null
  readonly deletes: 'keep' | 'mirror'
  readonly onSchemaChange: OnSchemaChange
  readonly check: CheckSyntax
  readonly models: readonly NamedModel[]
  readonly columnText: { readonly column: NamedColumn; readonly text: string }
}

/** `condition`: the whole value is SQL. */
export type CheckSyntax =
  | { readonly is: 'not_null' | 'unique'; readonly columns: readonly NamedColumn[] }
  | { readonly is: 'accepted'; readonly column: NamedColumn; readonly values: readonly SqlValue[] }
  | {
      readonly is: 'references'
      readonly column: NamedColumn
      readonly model: NamedModel
      readonly target: NamedColumn
    }
  | { readonly is: 'row_count'; readonly comparison: Comparison; readonly rows: bigint }
  | { readonly is: 'condition' }

/** A model that an annotation names, as written there but for its quotes. */
export interface NamedModel {
  readonly name: string
  readonly span: Span
}

/** Name and value of an annotation. */
export function readParts(match: MatchResult): {
  readonly name: Interval
  readonly value: Interval
} {
  return semantics(match)['parts']() as { name: Interval; value: Interval }
}

/** Value of the rule that was matched; places in it count from `base`, the offset of the value in its file. */
export function readValue(match: MatchResult, base: number): unknown {
  return semantics(match)['read'](base)
}

const baseOf = (node: Node) => (node as unknown as { args: { base: number } }).args.base
const read = (node: Node, base: number) => node['read'](base) as unknown
const itself = function (this: Node, _content: Node) {
  return this.sourceString
}

const semantics = annotationGrammar
  .createSemantics()
  .addOperation('parts', {
    annotation: (_at, name, _separator, value) => ({ name: name.source, value: value.source }),
  })
  .addOperation('read(base)', {
    word: itself,
    text: itself,
    deletes: itself,
    onSchemaChange: itself,
    columns(first, _commas, rest) {
      const base = baseOf(this)
      return [first, ...rest.children].map((column) => read(column, base))
    },
    optionalColumns(columns) {
      const base = baseOf(this)
      return columns.children.flatMap((list) => read(list, base))
    },
    incremental(column, _blank, _word, _blanks, duration) {
      const lookback = duration.children[0]?.sourceString ?? null
      return { column: read(column, baseOf(this)), lookback }
    },
    onDuplicate_fail: (_word) => null,
    latest(_word, _open, column, _close) {
      return read(column, baseOf(this))
    },
    columnsCheck(is, _open, columns, _close) {
      return { is: is.sourceString, columns: read(columns, baseOf(this)) }
    },
    accepted(_word, _open, column, _comma, first, _commas, rest, _close) {
      const base = baseOf(this)
      const values = [first, ...rest.children].map((literal) => read(literal, base))
      return { is: 'accepted', column: read(column, base), values }
    },
    references(_word, _open, column, _comma, model, _dot, target, _close) {
      const base = baseOf(this)
      const named = { column: read(column, base), model: read(model, base) }
      return { is: 'references', ...named, target: read(target, base) }
    },
    rowCount(_word, _open, comparison, _blank, digits, _close) {
      const rows = BigInt(digits.sourceString)
      return { is: 'row_count', comparison: comparison.sourceString, rows }
    },
    condition: (_not) => ({ is: 'condition' }),
    models(first, _commas, rest) {
      const base = baseOf(this)
      return [first, ...rest.children].map((model) => read(model, base))
    },
    columnText(column, _blanks, _colon, _more, text) {
      return { column: read(column, baseOf(this)), text: text.sourceString }
    },
    modelName(schema, _dot, table) {
      const base = baseOf(this)
      const names = [schema, table].map((part) => (read(part, base) as NamedColumn).name)
      const { startIdx, endIdx } = this.source
      return { name: names.join('.'), span: { start: base + startIdx, end: base + endIdx } }
    },
    literal_text: (_open, text, _close) => text.sourceString.replaceAll("''", "'"),
    // As text, which the engine reads as a value of the column's type: a number would lose digits.
    literal_number(_sign, _whole, _dot, _fraction) {
      return this.sourceString
    },
    literal_boolean: (word) => word.sourceString === 'true',
    column(_either) {
      const { startIdx, endIdx, contents } = this.source
      const quoted = contents.startsWith('"')
      const name = quoted ? contents.slice(1, -1).replaceAll('""', '"') : contents
      const base = baseOf(this)
      return { name, span: { start: base + startIdx, end: base + endIdx } }
    },
  })
