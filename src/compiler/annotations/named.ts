// What annotations name: columns and models, for those who look names up or change them.

import { timeUnits } from '../../core/model.ts'
import { sameName } from '../../core/names.ts'
import type { Span } from '../../core/source-text.ts'
import { type AnnotationName, annotations, type ModelHeader } from './annotations.ts'
import type { CheckSyntax } from './check-syntax.ts'
import type { AnnotationValues } from './read-annotation.ts'
import type { NamedColumn, NamedModel } from './reader.ts'

interface Named {
  /** Columns of the model itself. */
  readonly columns?: readonly NamedColumn[]
  readonly models?: readonly NamedModel[]
  readonly others?: readonly { readonly model: NamedModel; readonly column: NamedColumn }[]
  /** SQL over columns of the model itself. */
  readonly sql?: readonly Span[]
}

type Value = { readonly [Form in keyof AnnotationValues]: AnnotationValues[Form] }
type NamedBy = { readonly [Form in keyof Value]: (value: Value[Form], span: Span) => Named }

const none = () => ({})
const all = (columns: readonly NamedColumn[]) => ({ columns })
const one = ({ column }: { readonly column: NamedColumn | null }) =>
  column === null ? {} : { columns: [column] }

const namedBy: NamedBy = {
  word: none,
  words: none,
  text: none,
  column: (column) => one({ column }),
  columns: all,
  optionalColumns: all,
  incremental: one,
  period: one,
  onDuplicate: (column) => one({ column }),
  deletes: none,
  onSchemaChange: none,
  rebuild: none,
  keep: one,
  fresh: none,
  check: namedByCheck,
  models: (models) => ({ models }),
  // It promises a name to clients, so a new name is another promise.
  contract: none,
  // The other one is the name that the column had.
  rename: one,
  columnText: one,
  columnPair: ({ column, other }) => ({ columns: [column, other] }),
  measure: ({ sql }) => ({ sql: [sql] }),
  rollup: all,
  hierarchy: (of) => ({ columns: 'levels' in of ? of.levels : [of.node, of.parent] }),
}

function namedByCheck({ where, ...check }: CheckSyntax, span: Span): Named {
  const sql = where === undefined ? [] : [where]
  switch (check.is) {
    case 'not_null':
    case 'unique':
      return { columns: check.columns, sql }
    case 'accepted':
      return { columns: [check.column], sql }
    case 'references': {
      const { column, model, target } = check
      return { columns: [column], others: [{ model, column: target }], sql }
    }
    case 'row_count':
      return { sql }
    case 'condition':
      return { sql: [span] }
  }
}

/** What each annotation of a header names. In a rollup the word of a unit of time is the grain, unless it is a dimension. */
export function namedIn(header: ModelHeader): readonly Named[] {
  const dimensions = (header.dimension ?? []).flatMap(({ value }) => value)
  const isColumn = ({ name }: NamedColumn) =>
    !timeUnits.some((unit) => sameName(unit, name)) ||
    dimensions.some((dimension) => sameName(dimension.name, name))
  return (Object.keys(header) as AnnotationName[]).flatMap((name) =>
    [header[name] ?? []].flat().map(({ value, valueSpan }) => {
      const named = (namedBy[annotations[name].value] as NamedBy[keyof NamedBy])(
        value as never,
        valueSpan,
      )
      return name === 'rollup' ? { columns: named.columns!.filter(isColumn) } : named
    }),
  )
}
