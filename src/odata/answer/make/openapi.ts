// The service as OpenAPI 3.0, after the OASIS document "OData to OpenAPI Mapping": what $metadata says, for tools that
// know no OData. It says less: which functions and operators a filter takes has no place, and of $apply only the
// measures have one.

import type { Measure } from '../../../core/meaning.ts'
import { inSlices } from '../../../core/time-slices.ts'
import { type GeoName, geoNames } from '../../edm/geo.ts'
import type { EntityModel, EntitySet, EntityType, Property } from '../../edm/model.ts'
import { type EdmName, type EdmType, type PrimitiveType, qualifiedName } from '../../edm/types.ts'
import type { Conventions } from '../../protocol/conventions.ts'

/** A part of the document; what a schema may be is for those who read it. */
type Part = Readonly<Record<string, unknown>>

interface Described {
  /** Absolute URL of the service, with a slash at its end. */
  readonly root: string
  readonly conventions: Conventions
  readonly pageSize: number
}

/** In slices: that of a thousand sets has megabytes. */
export async function openApiDocument(model: EntityModel, about: Described): Promise<Buffer> {
  const slices: Buffer[] = []
  for await (const texts of inSlices(parts(model, about))) slices.push(Buffer.from(texts.join('')))
  return Buffer.concat(slices)
}

function* parts(model: EntityModel, about: Described): Generator<string, void> {
  const sets = [...model.sets.values()]
  const head = {
    openapi: '3.0.3',
    info: {
      title: 'OData service',
      version: '4.01',
      description: `Published tables, read-only. Collections come in pages of ${about.pageSize} rows: follow @odata.nextLink. The whole language: https://docs.oasis-open.org/odata/odata/v4.01/odata-v4.01-part2-url-conventions.html`,
    },
    servers: [{ url: about.root.replace(/\/$/, '') }],
    // Where no token is set, none is needed.
    security: [{}, { bearer: [] }],
    tags: sets.map(({ name, type }) => ({ name, ...described(type.description) })),
  }
  yield `${JSON.stringify(head).slice(0, -1)},"paths":{`
  let comma = ''
  for (const set of sets)
    for (const [path, item] of pathsOf(set, about)) {
      yield `${comma}${JSON.stringify(path)}:${JSON.stringify(item)}`
      comma = ','
    }
  yield '},"components":{"schemas":{'
  for (const set of sets)
    for (const [name, schema] of schemasOf(set.type))
      yield `${JSON.stringify(name)}:${JSON.stringify(schema)},`
  const { schemas, ...others } = shared
  yield `${JSON.stringify(schemas).slice(1, -1)}},${JSON.stringify(others).slice(1)}}`
}

const described = (description: string | null | undefined): Part =>
  description == null ? {} : { description }

const refTo = (kind: 'schemas' | 'parameters' | 'responses', name: string) => ({
  $ref: `#/components/${kind}/${name}`,
})

/** What all paths share. */
const shared = {
  schemas: {
    error: {
      type: 'object',
      required: ['error'],
      properties: {
        error: {
          type: 'object',
          required: ['code', 'message'],
          properties: {
            code: { type: 'string' },
            message: { type: 'string' },
            target: { type: 'string' },
          },
        },
      },
    },
  },
  parameters: {
    top: parameter('$top', 'So many rows', { type: 'integer', minimum: 0 }),
    skip: parameter('$skip', 'Rows to leave out before', { type: 'integer', minimum: 0 }),
    count: parameter('$count', 'Say how many rows there are in all', { type: 'boolean' }),
    search: parameter('$search', 'Words in any text column', { type: 'string' }),
    filter: parameter('$filter', "A condition, such as country eq 'NO'", { type: 'string' }),
    apply: parameter(
      '$apply',
      'An aggregation, such as groupby((country),aggregate($count as n)). Rows have other columns then',
      { type: 'string' },
    ),
  },
  responses: {
    error: {
      description: 'An error: its code is a word that stays, its message is for people',
      content: { 'application/json': { schema: refTo('schemas', 'error') } },
    },
  },
  securitySchemes: { bearer: { type: 'http', scheme: 'bearer' } },
}

function parameter(name: string, description: string, schema: Part) {
  return { name, in: 'query', description, schema }
}

/** A list of names with commas in one parameter. */
const listOf = (name: string, description: string, names: readonly string[]) => ({
  name,
  in: 'query',
  description,
  style: 'form',
  explode: false,
  schema: { type: 'array', uniqueItems: true, items: { type: 'string', enum: names } },
})

function* pathsOf(set: EntitySet, about: Described): Generator<readonly [string, Part], void> {
  const { name, type } = set
  const row = refTo('schemas', qualifiedName(type))
  yield [
    `/${name}`,
    {
      get: operation(
        set,
        `list_${name}`,
        `Rows of ${name}`,
        [
          ...['top', 'skip', 'search', 'filter', 'count'].map((one) => refTo('parameters', one)),
          applyOf(type),
          listOf('$orderby', 'The order of the rows', ordersOf(type)),
          ...choicesOf(type),
        ],
        pageOf(row),
      ),
    },
  ]
  yield [
    `/${name}/$count`,
    {
      get: operation(
        set,
        `count_${name}`,
        `How many rows ${name} has`,
        [refTo('parameters', 'search'), refTo('parameters', 'filter')],
        { 'text/plain': { schema: { type: 'integer', minimum: 0 } } },
      ),
    },
  ]
  if (type.key.length === 0) return
  const parameters = type.key.map((property) => ({
    name: property.name,
    in: 'path',
    required: true,
    ...described(property.column.description),
    schema: schemaOf(property.type),
  }))
  yield [
    keyPath(set, about),
    {
      parameters,
      get: operation(set, `get_${name}`, `One row of ${name}`, choicesOf(type), {
        'application/json': { schema: row },
      }),
    },
  ]
}

/** Of a set with measures it says which, and how they are asked for. */
function applyOf({ measures, dimensions }: EntityType): Part {
  const [first] = measures
  if (first === undefined) return refTo('parameters', 'apply')
  const by = dimensions[0]
  const example = `aggregate(${first.name})`
  return {
    ...shared.parameters.apply,
    description: `An aggregation, by measures (${measures.map(({ name }) => name).join(', ')}) or by methods, such as aggregate($count as n). Rows have what it names`,
    example: by === undefined ? example : `groupby((${by}),${example})`,
  }
}

const operation = (
  { name }: EntitySet,
  operationId: string,
  summary: string,
  parameters: readonly Part[],
  content: Part,
): Part => ({
  operationId,
  summary,
  tags: [name],
  parameters,
  responses: {
    200: { description: 'The answer', content },
    '4XX': refTo('responses', 'error'),
    '5XX': refTo('responses', 'error'),
  },
})

const pageOf = (row: Part): Part => ({
  'application/json': {
    schema: {
      type: 'object',
      required: ['value'],
      properties: {
        '@odata.count': { type: 'integer', minimum: 0, description: 'All rows, where $count=true' },
        '@odata.nextLink': { type: 'string', description: 'Where the next page is' },
        value: { type: 'array', items: row },
      },
    },
  },
})

const ordersOf = ({ properties }: EntityType): readonly string[] =>
  properties
    .filter(({ type }) => type.kind === 'primitive')
    .flatMap(({ name }) => [name, `${name} desc`])

const choicesOf = ({ properties, navigation }: EntityType): readonly Part[] => [
  listOf(
    '$select',
    'Columns',
    properties.map(({ name }) => name),
  ),
  ...(navigation.length === 0
    ? []
    : [
        listOf(
          '$expand',
          'Related rows',
          navigation.map(({ name }) => name),
        ),
      ]),
]

/** `/orders({order_id})`, `/lines(order={order},line={line})`, with quotes where a literal has them. */
function keyPath({ name, type: { key } }: EntitySet, { conventions }: Described): string {
  if (conventions.keyAsSegment) return `/${name}${key.map((part) => `/{${part.name}}`).join('')}`
  const place = ({ name: part, type }: Property) =>
    type.name === 'Edm.String' ? `'{${part}}'` : `{${part}}`
  const [only, ...more] = key as readonly [Property, ...Property[]]
  const places = key.map((part) => `${part.name}=${place(part)}`)
  return `/${name}(${more.length === 0 ? place(only) : places.join()})`
}

function* schemasOf(type: EntityType): Generator<readonly [string, Part], void> {
  const properties: Record<string, Part> = {}
  for (const { name, type: of, nullable, column } of type.properties)
    properties[name] = withFacts(schemaOf(of), nullable, column.description)
  for (const { name, target, many } of type.navigation) {
    const row = refTo('schemas', qualifiedName(target.type))
    properties[name] = many
      ? { type: 'array', items: row }
      : { nullable: true, allOf: [row], description: 'Where $expand asks for it' }
  }
  // A rollup has columns with the names of its measures.
  for (const { name, type: of, measure } of type.measures)
    if (!Object.hasOwn(properties, name)) properties[name] = measureSchema(of, measure)
  yield [qualifiedName(type), { type: 'object', ...described(type.description), properties }]
  for (const { type: of } of type.properties) yield* complexSchemas(of)
}

function measureSchema(of: EdmType, { description, text, unit }: Measure): Part {
  const said = description === undefined ? text : `${description} (${text})`
  const inUnit = unit === undefined ? '' : `, in ${unit}`
  return withFacts(schemaOf(of), true, `Measure, where $apply asks for it: ${said}${inUnit}`)
}

function* complexSchemas(type: EdmType): Generator<readonly [string, Part], void> {
  const item = type.kind === 'collection' ? type.item : type
  if (item.kind !== 'complex') return
  const properties = item.properties.map(
    ({ name, type: of }) => [name, withFacts(schemaOf(of), true, null)] as const,
  )
  yield [qualifiedName(item), { type: 'object', properties: Object.fromEntries(properties) }]
  for (const { type: of } of item.properties) yield* complexSchemas(of)
}

/** Beside a reference nothing counts, so it goes into a list of one. */
function withFacts(schema: Part, nullable: boolean, description: string | null | undefined): Part {
  const facts = { ...(nullable ? { nullable: true } : {}), ...described(description) }
  if (Object.keys(facts).length === 0) return schema
  // A list of the values has to have null among them.
  const { enum: members } = schema
  if (nullable && Array.isArray(members)) return { ...schema, ...facts, enum: [...members, null] }
  return '$ref' in schema ? { ...facts, allOf: [schema] } : { ...schema, ...facts }
}

function schemaOf(type: EdmType): Part {
  switch (type.kind) {
    case 'collection':
      return { type: 'array', items: withFacts(schemaOf(type.item), true, null) }
    case 'complex':
      return refTo('schemas', qualifiedName(type))
    default:
      return primitiveSchema(type)
  }
}

function primitiveSchema({ name, members }: PrimitiveType): Part {
  return members === null ? schemas[name] : { ...schemas[name], enum: members }
}

const text = (format?: string) => ({ type: 'string', ...(format === undefined ? {} : { format }) })
const integer = (format: string, minimum?: number, maximum?: number) => ({
  type: 'integer',
  format,
  ...(minimum === undefined ? {} : { minimum, maximum }),
})
/** Values that JSON has no number for are texts. */
const float = (format: string) => ({
  anyOf: [
    { type: 'number', format },
    { type: 'string', enum: ['-INF', 'INF', 'NaN'] },
  ],
})

/** An object of GeoJSON. */
const place = {
  type: 'object',
  properties: { type: { type: 'string' }, coordinates: { type: 'array', items: {} } },
  required: ['type'],
}
const placeSchemas: Readonly<Record<GeoName, Part>> = Object.fromEntries(
  geoNames.map((name): [string, Part] => [name, place]),
) as Record<string, Part> as Record<GeoName, Part>

const schemas: Readonly<Record<EdmName, Part>> = {
  'Edm.Binary': text('base64url'),
  'Edm.Boolean': { type: 'boolean' },
  'Edm.Byte': integer('uint8', 0, 255),
  'Edm.Date': text('date'),
  'Edm.DateTimeOffset': text('date-time'),
  'Edm.Decimal': { type: 'number', format: 'decimal' },
  'Edm.Double': float('double'),
  'Edm.Duration': text('duration'),
  'Edm.Guid': text('uuid'),
  'Edm.Int16': integer('int16', -32_768, 32_767),
  'Edm.Int32': integer('int32'),
  'Edm.Int64': integer('int64'),
  'Edm.SByte': integer('int8', -128, 127),
  'Edm.Single': float('float'),
  'Edm.String': text(),
  'Edm.TimeOfDay': text('time'),
  ...placeSchemas,
}
