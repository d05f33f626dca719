// Names are branded strings: each brand comes from one parser, so a value of the type has been checked.

declare const brand: unique symbol
type Branded<Name extends string> = string & { readonly [brand]: Name }

/** `schema.table`; each part is any text without a dot, a slash or a control character. */
export type ModelName = Branded<'ModelName'>

/** Name of an OData entity set: the model name with the dot replaced by an underscore. */
export type EntitySetName = Branded<'EntitySetName'>

// A path segment, a file name and a quoted SQL identifier all carry these parts; NUL breaks DuckDB's parser.
// eslint-disable-next-line no-control-regex
const PART = /^[^./\\\u0000-\u001f\u007f]+$/

export function parseModelName(text: string): ModelName | null {
  const [schema, table, ...rest] = text.split('.')
  if (schema === undefined || table === undefined || rest.length > 0) return null
  return PART.test(schema) && PART.test(table) ? (text as ModelName) : null
}

/** Also of `source.table`, the name of a table of a source. */
export function splitModelName(name: string): {
  readonly schema: string
  readonly table: string
} {
  const dot = name.indexOf('.')
  return { schema: name.slice(0, dot), table: name.slice(dot + 1) }
}

export function entitySetName(model: ModelName): EntitySetName {
  return model.replace('.', '_') as EntitySetName
}

/** An OData simple identifier (CSDL 4.01, 15.2): a letter or underscore, then letters, digits, underscores; at most 128. */
export function isODataIdentifier(text: string): boolean {
  return /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}\p{Cf}]{0,127}$/u.test(text)
}

export const LONGEST_ODATA_NAME = 128

/** Case does not distinguish names in DuckDB, nor files on some disks. */
export function foldCase(name: string): string {
  return name.toLowerCase()
}

/** The name of a column as an annotation spells it. */
export const annotationName = (name: string): string =>
  /^[\p{L}_][\p{L}0-9_$]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`

export const sameName = (a: string, b: string): boolean => foldCase(a) === foldCase(b)

/** The targets whose events are of `model`: its name, in each spelling by case under which events arrived. */
export const targetsOf = (model: ModelName, targets: Iterable<ModelName>): readonly ModelName[] =>
  Array.from(targets).filter((target) => sameName(target, model))

/** The name of a model as the project spells it, where the two differ only in case. */
export function spelledAs(names: Iterable<ModelName>): (recorded: string) => ModelName {
  const spelled = new Map(Array.from(names, (name) => [foldCase(name), name]))
  return (recorded) => spelled.get(foldCase(recorded)) ?? (recorded as ModelName)
}
