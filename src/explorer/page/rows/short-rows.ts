// Rows whose values are too long for a table: of each text its beginning, and what has no beginning left out. The whole
// value is asked for when somebody wants it.

import type { Catalog } from '../../../core/catalog.ts'
import { readSelect } from '../address/order.ts'
import { withOptions } from '../address/options.ts'
import {
  type EntitySet,
  freeNames,
  navigationOf,
  pathTo,
  type Property,
  type Row,
  type Value,
} from '../model/schema.ts'
import { firstPageRequest, isOfSet, MOST_BYTES, type RowsState } from './requests.ts'

/** One more than a cell shows, so that it shows that there is more. */
const CHARACTERS = 161

/** Measured in the files of the engine; as text it is more. */
const MOST_BYTES_OF_A_ROW = 20_000

export function isKnownToBeLong(
  catalog: Pick<Catalog, 'sets'> | null,
  { name }: EntitySet,
): boolean {
  const set = catalog?.sets.find((one) => one.name === name)
  return set !== undefined && set.bytes > set.rows * MOST_BYTES_OF_A_ROW && set.bytes > MOST_BYTES
}

export interface ShortRows {
  readonly request: string
  /** Rows of the answer with the names of the set. */
  readonly read: (rows: readonly Row[]) => readonly Row[]
}

/** Undefined where nothing can be shortened. `skip`: rows that are there already. */
export function shortRows(set: EntitySet, state: RowsState, skip: number): ShortRows | undefined {
  if (!isOfSet(state)) return undefined
  const { options } = state
  const wanted = readSelect(options.get('$select')) ?? set.properties.map(({ name }) => name)
  const free = freeNames([...set.properties, ...set.navigations].map(({ name }) => name))
  const properties = new Map(set.properties.map((property) => [property.name, property]))
  const texts = new Map<string, string>()
  const select = wanted.flatMap((name) => {
    const property = properties.get(name)
    if (property === undefined || !canBeLong(set, property)) return [name]
    if (property.edm !== 'Edm.String' || property.isList) return []
    texts.set(name, free(`${name}_start`))
    return [texts.get(name)!]
  })
  if (select.length === 0 || (texts.size === 0 && select.length === wanted.length)) return undefined
  const starts = [...texts].map(
    ([name, start]) => `substring(${pathTo(name)},0,${CHARACTERS}) as ${start}`,
  )
  const compute = [options.get('$compute'), ...starts].filter(Boolean).join(',')
  const changed = withOptions(options, {
    $select: select.join(','),
    $compute: compute,
    ...from(options.get('$skip'), options.get('$top'), skip),
  })
  return {
    request: firstPageRequest({ ...state, options: changed }),
    read: (rows) =>
      rows.map((row) => {
        const short: Record<string, Value> = { ...row }
        for (const [name, start] of texts) short[name] = row[start] ?? null
        return short
      }),
  }
}

/** Whether a value of short rows is not all of what is in the row. */
export function isPart(property: Property | undefined, value: Value | undefined): boolean {
  if (property === undefined) return false
  return value === undefined || (typeof value === 'string' && value.length >= CHARACTERS)
}

function canBeLong(set: EntitySet, { name, edm, isList }: Property): boolean {
  if (set.key.includes(name) || navigationOf(set, name) !== undefined) return false
  return isList || ['Edm.String', 'Edm.Binary', 'Edm.Untyped'].includes(edm)
}

function from(skip: string | undefined, top: string | undefined, here: number) {
  if (here === 0) return {}
  return {
    $skip: String(Number(skip ?? 0) + here),
    ...(top === undefined ? {} : { $top: String(Math.max(0, Number(top) - here)) }),
  }
}
