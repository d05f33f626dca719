// A client in TypeScript: one file without dependencies, for Node and browsers.

import {
  type ClientProperty,
  type ClientType,
  isPlace,
  keysText,
  readMetadata,
} from './metadata.ts'

const RESERVED = [
  'Client',
  'Query',
  'Sets',
  'Keys',
  'Measures',
  'Question',
  'SetName',
  'ODataError',
  'Decimal',
  'Int64',
  'Row',
  // Globals that the client uses.
  'AsyncGenerator',
  'Error',
  'Omit',
  'Pick',
  'Promise',
  'Readonly',
  'Record',
  'Response',
]

/** `source` says where the metadata comes from. */
export function typescriptClient(metadata: string, source: string): string {
  const { sets, types } = readMetadata(metadata, RESERVED)
  const keyed = sets.map(({ name, key }) => `  ${memberName(name)}: ${keyType(key)}`)
  return [
    `// Made by "eider client typescript" from ${source}. Make it again when the sets change.`,
    '',
    '/** A number with all of its digits, which a number of JavaScript has not. */',
    'export type Decimal = string',
    'export type Int64 = string',
    '',
    ...types.flatMap(typeLines),
    ...sets.flatMap(({ measures }) => (measures === null ? [] : typeLines(measures))),
    'export interface Sets {',
    ...sets.map(({ name, type }) => `  ${memberName(name)}: ${type.name}`),
    '}',
    '',
    'export interface Keys {',
    ...keyed,
    '}',
    '',
    'export interface Measures {',
    ...sets.map(
      ({ name, measures }) => `  ${memberName(name)}: ${measures?.name ?? 'Record<never, never>'}`,
    ),
    '}',
    '',
    `const keys: Readonly<Record<string, readonly (readonly [name: string, type: string])[]>> = ${keysText(sets)}`,
    '',
    RUNTIME,
  ].join('\n')
}

const keyType = (key: readonly ClientProperty[]) =>
  key.length === 0
    ? 'never'
    : key.length === 1
      ? valueType(key[0]!)
      : `{ ${key.map((one) => `${memberName(one.name)}: ${valueType(one)}`).join('; ')} }`

function typeLines({ name, description, properties }: ClientType): readonly string[] {
  const members = properties.flatMap((property) => [
    ...comment('  ', property.description),
    `  ${memberName(property.name)}${property.isRelated ? '?' : ''}: ${valueType(property)}`,
  ])
  return [...comment('', description), `export interface ${name} {`, ...members, '}', '']
}

const comment = (indent: string, text: string | null) =>
  text === null || text === '' ? [] : [`${indent}/** ${text.replaceAll('*/', '*\\/')} */`]

const memberName = (name: string) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name))

function valueType({ type, many, nullable }: Pick<ClientProperty, 'type' | 'many' | 'nullable'>) {
  const one = isPlace(type) ? PLACE : (PLAIN[type] ?? (type.startsWith('Edm.') ? 'string' : type))
  if (many) return `(${one} | null)[]`
  return nullable ? `${one} | null` : one
}

/** An object of GeoJSON. */
const PLACE = '{ type: string; coordinates?: unknown[]; geometries?: unknown[] }'

/** All others are texts. */
const PLAIN: Readonly<Record<string, string>> = {
  'Edm.Boolean': 'boolean',
  'Edm.Byte': 'number',
  'Edm.Decimal': 'Decimal',
  // INF and NaN are texts.
  'Edm.Double': "number | 'INF' | '-INF' | 'NaN'",
  'Edm.Int16': 'number',
  'Edm.Int32': 'number',
  'Edm.Int64': 'Int64',
  'Edm.SByte': 'number',
  'Edm.Single': "number | 'INF' | '-INF' | 'NaN'",
}

const RUNTIME = `export type SetName = keyof Sets & string

export interface Query<K extends string = string> {
  select?: readonly K[]
  filter?: string
  orderby?: string
  top?: number
  skip?: number
  search?: string
  expand?: string
}

/** Measures by the values of properties. */
export interface Question<G extends string = string, M extends string = string> {
  measures: readonly M[]
  by?: readonly G[]
  /** Of the rows that are added up; the others are of what they come to. */
  filter?: string
  orderby?: string
  top?: number
  skip?: number
}

/** A request that the service has refused. */
export class ODataError extends Error {
  readonly status: number
  readonly code: string

  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export class Client {
  readonly #url: string
  readonly #token: string | undefined

  /** The root of the service, such as http://127.0.0.1:8090/odata. */
  constructor(url: string, { token }: { token?: string } = {}) {
    this.#url = url.replace(/\\/+$/, '')
    this.#token = token
  }

  /** All rows, page by page, of one published state. */
  async *rows<S extends SetName, K extends keyof Sets[S] & string = keyof Sets[S] & string>(
    set: S,
    query: Query<K> = {},
  ): AsyncGenerator<Pick<Sets[S], K>, void> {
    yield* this.#pages<Pick<Sets[S], K>>(\`\${set}\${queryText({ ...query })}\`)
  }

  /** Measures by the values of properties; or what $apply makes, such as aggregate(amount with sum as total). */
  aggregate<
    S extends SetName,
    M extends keyof Measures[S] & string,
    G extends keyof Sets[S] & string = never,
  >(set: S, question: Question<G, M>): AsyncGenerator<Pick<Sets[S], G> & Pick<Measures[S], M>, void>
  aggregate<R = Record<string, unknown>>(
    set: SetName,
    apply: string,
    query?: Omit<Query, 'expand'>,
  ): AsyncGenerator<R, void>
  async *aggregate(
    set: SetName,
    asked: string | Question,
    query: Omit<Query, 'expand'> = {},
  ): AsyncGenerator<unknown, void> {
    if (typeof asked === 'string') {
      yield* this.#pages(\`\${set}\${queryText({ apply: asked, ...query })}\`)
      return
    }
    const { measures, by = [], filter, ...others } = asked
    const total = \`aggregate(\${measures.join(',')})\`
    const groups = by.length === 0 ? total : \`groupby((\${by.join(',')}),\${total})\`
    const apply = filter === undefined ? groups : \`filter(\${filter})/\${groups}\`
    yield* this.#pages(\`\${set}\${queryText({ apply, ...others })}\`)
  }

  /** null where no row has the key. */
  async get<S extends SetName>(
    set: S,
    key: Keys[S],
    query: Pick<Query<keyof Sets[S] & string>, 'select' | 'expand'> = {},
  ): Promise<Sets[S] | null> {
    try {
      const url = \`\${this.#url}/\${set}(\${keyText(set, key)})\${queryText({ ...query })}\`
      return (await (await this.#ask(url)).json()) as Sets[S]
    } catch (error) {
      if (error instanceof ODataError && error.code === 'entity-not-found') return null
      throw error
    }
  }

  async count(set: SetName, query: Pick<Query, 'filter' | 'search'> = {}): Promise<number> {
    return Number(await (await this.#ask(\`\${this.#url}/\${set}/$count\${queryText({ ...query })}\`)).text())
  }

  async *#pages<R>(target: string): AsyncGenerator<R, void> {
    let url: string | undefined = \`\${this.#url}/\${target}\`
    while (url !== undefined) {
      const page = (await (await this.#ask(url)).json()) as {
        value: R[]
        '@odata.nextLink'?: string
      }
      yield* page.value
      url = page['@odata.nextLink']
    }
  }

  async #ask(url: string): Promise<Response> {
    const headers: Record<string, string> = {
      // Numbers that JavaScript would round come as texts.
      Accept: 'application/json;odata.metadata=none;IEEE754Compatible=true, text/plain',
    }
    if (this.#token !== undefined) headers['Authorization'] = \`Bearer \${this.#token}\`
    const response = await fetch(url, { headers })
    if (response.ok) return response
    const text = await response.text()
    let error: { code?: string; message?: string } = {}
    try {
      error = (JSON.parse(text) as { error?: typeof error }).error ?? {}
    } catch {
      // It is not the service that has answered.
    }
    throw new ODataError(response.status, error.code ?? 'unknown', error.message ?? text)
  }
}

function queryText(query: Record<string, unknown>): string {
  const parts = Object.entries(query)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => \`$\${name}=\${encodeURIComponent(String(value))}\`)
  return parts.length === 0 ? '' : \`?\${parts.join('&')}\`
}

function keyText(set: string, key: unknown): string {
  const parts = keys[set] ?? []
  const literal = (type: string, value: unknown) => {
    const text = String(value)
    if (type === 'Edm.String') return encodeURIComponent(\`'\${text.replaceAll("'", "''")}'\`)
    if (type === 'Edm.Duration') return encodeURIComponent(\`duration'\${text}'\`)
    return encodeURIComponent(type === 'Edm.Binary' ? \`binary'\${text}'\` : text)
  }
  const [only, ...more] = parts
  if (only !== undefined && more.length === 0) return literal(only[1], key)
  const values = key as Record<string, unknown>
  return parts.map(([name, type]) => \`\${name}=\${literal(type, values[name])}\`).join(',')
}
`
