// What clients are made from: sets with their columns and measures, as $metadata has them in JSON.

export interface ClientModel {
  readonly sets: readonly ClientSet[]
  /** Types of sets and of structs. */
  readonly types: readonly ClientType[]
}

interface ClientSet {
  readonly name: string
  readonly type: ClientType
  readonly key: readonly ClientProperty[]
  /** null: there are none. */
  readonly measures: ClientType | null
}

export interface ClientType {
  /** In the code: `ShopOrders`. */
  readonly name: string
  readonly description: string | null
  readonly properties: readonly ClientProperty[]
}

export interface ClientProperty {
  readonly name: string
  /** `Edm.Int64`, or the name of a type in the code. */
  readonly type: string
  readonly many: boolean
  readonly nullable: boolean
  /** It is there where a request expands it. */
  readonly isRelated: boolean
  readonly description: string | null
}

type Part = Readonly<Record<string, unknown>>

const DESCRIPTION = '@Org.OData.Core.V1.Description'

/** A simple identifier of CSDL. */
const IDENTIFIER = /^[\p{L}\p{Nl}_][\p{L}\p{Nl}\p{Nd}\p{Mn}\p{Mc}\p{Pc}]{0,127}$/u

/** Throws an Error for what is no such document. */
export function readMetadata(text: string, reserved: readonly string[]): ClientModel {
  const document = JSON.parse(text) as Part
  const [schema, container] = String(document['$EntityContainer']).split('.')
  const all = document[schema ?? ''] as Part | undefined
  const sets = all?.[container ?? ''] as Part | undefined
  if (all === undefined || sets === undefined) throw new Error('it names no entity container')
  // They become names of the code, and another service may say anything.
  const odd = [...membersOf(all), ...membersOf(sets)].find(([name]) => !IDENTIFIER.test(name))
  if (odd !== undefined) throw new Error(`${JSON.stringify(odd[0])} is no name of a type or a set`)
  const codeNames = namesInCode(
    membersOf(all)
      .filter(([, { $Kind: kind }]) => kind === 'EntityType' || kind === 'ComplexType')
      .map(([name]) => name),
    reserved,
  )
  const typeOf = (name: unknown) => {
    const known = typeof name === 'string' ? name : 'Edm.String'
    const named = codeNames.get(known.slice(known.indexOf('.') + 1))
    return named ?? (/^Edm\.\w+$/.test(known) ? known : 'Edm.String')
  }
  const types = new Map(
    [...codeNames].map(([name, code]) => [name, clientType(code, all[name] as Part, typeOf)]),
  )
  const measuresOf = measureTypes(membersOf(sets), [...reserved, ...codeNames.values()])
  const found = membersOf(sets).map(([name, { $Type: type }]): ClientSet => {
    const local = String(type).slice(String(type).indexOf('.') + 1)
    const of = types.get(local)!
    const key = ((all[local] as Part)['$Key'] ?? []) as readonly string[]
    const parts = key.map((part) => of.properties.find((one) => one.name === part)!)
    return { name, type: of, key: parts, measures: measuresOf.get(name) ?? null }
  })
  return { sets: found, types: [...types.values()] }
}

/** Without what CSDL says of the element itself. */
const membersOf = (element: Part) =>
  Object.entries(element)
    .filter(([name]) => !/^[$@]/.test(name))
    .map(([name, value]) => [name, value as Part] as const)

function clientType(name: string, element: Part, typeOf: (name: unknown) => string): ClientType {
  const properties = membersOf(element).map(
    ([
      property,
      { $Kind: kind, $Type: type, $Collection: many, $Nullable: nullable, ...rest },
    ]) => ({
      name: property,
      type: typeOf(type),
      many: many === true,
      nullable: nullable === true && many !== true,
      isRelated: kind === 'NavigationProperty',
      description: descriptionOf(rest),
    }),
  )
  return { name, description: descriptionOf(element), properties }
}

const MEASURE = '@Org.OData.Aggregation.V1.CustomAggregate#'

/** By set: a type with its measures as properties. */
function measureTypes(sets: readonly (readonly [string, Part])[], reserved: readonly string[]) {
  const found = sets.map(([set, element]) => {
    const measures = Object.keys(element).filter((term) => term.startsWith(MEASURE))
    const own = measures.filter((term) => !term.includes('@', 1))
    return [set, own.map((term) => measureOf(element, term))] as const
  })
  const some = found.filter(([, measures]) => measures.length > 0)
  const names = namesInCode(
    some.map(([set]) => `${set}_measures`),
    reserved,
  )
  return new Map(
    some.map(([set, properties]) => {
      const type = { name: names.get(`${set}_measures`)!, description: null, properties }
      return [set, type] as const
    }),
  )
}

function measureOf(element: Part, term: string): ClientProperty {
  const name = term.slice(MEASURE.length)
  if (!IDENTIFIER.test(name)) throw new Error(`${JSON.stringify(name)} is no name of a measure`)
  const type = element[term]
  return {
    name,
    type: typeof type === 'string' && /^Edm\.\w+$/.test(type) ? type : 'Edm.String',
    many: false,
    nullable: true,
    isRelated: false,
    description: descriptionOf({ [DESCRIPTION]: element[`${term}${DESCRIPTION}`] }),
  }
}

const descriptionOf = (element: Part) => {
  const text = element[DESCRIPTION]
  return typeof text === 'string' ? text.replaceAll(/\s+/g, ' ').trim() : null
}

/** `shop_orders` is `ShopOrders`, with a number where another type has that name. */
function namesInCode(names: readonly string[], reserved: readonly string[]) {
  const taken = new Set(reserved)
  return new Map(
    names.map((name) => {
      const words = name.split('_').filter((word) => word !== '')
      const plain = words.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('') || 'Type'
      let code = plain
      for (let i = 2; taken.has(code); i++) code = `${plain}${i}`
      taken.add(code)
      return [name, code] as const
    }),
  )
}

/** Whether values are objects of GeoJSON. */
export const isPlace = (type: string): boolean => /^Edm\.Geo(?:graphy|metry)/.test(type)

/** Names and types of the keys by set, as a literal of either language. */
export const keysText = (sets: ClientModel['sets']): string =>
  JSON.stringify(
    Object.fromEntries(sets.map(({ name, key }) => [name, key.map((one) => [one.name, one.type])])),
  )
