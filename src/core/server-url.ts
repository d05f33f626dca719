// The URL of a database server, as sources and lakes name it.

import { didYouMean } from './suggest.ts'

/** What may stand behind the `?`: how the connection is secured. */
const serverParameters = {
  postgres: [
    'sslmode',
    'sslrootcert',
    'sslcert',
    'sslkey',
    'sslcrl',
    'channel_binding',
    'gssencmode',
  ],
  mysql: ['ssl_mode', 'ssl_ca', 'ssl_cert', 'ssl_key'],
} as const

/** With another one libpq opens no connection. */
const SSL_MODES = ['disable', 'allow', 'prefer', 'require', 'verify-ca', 'verify-full']

export type ServerSystem = keyof typeof serverParameters

const PORTS = { postgres: 5432, mysql: 3306 } as const
const PROTOCOLS = {
  postgres: ['postgres:', 'postgresql:'],
  mysql: ['mysql:', 'mariadb:'],
} as const

export interface ServerAddress {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly database: string
  /** Such as sslmode; none of them is a secret. */
  readonly parameters: readonly (readonly [name: string, value: string])[]
  readonly password: string | null
}

/** What libpq takes in place of a URL. */
export const connectionString = (parts: readonly (readonly [string, string])[]): string =>
  parts.map(([name, value]) => `${name}='${value.replaceAll(/[\\']/g, String.raw`\$&`)}'`).join(' ')

export function parseServerUrl(text: string, system: ServerSystem): ServerAddress | null {
  const url = URL.canParse(text) ? new URL(text) : null
  const protocols: readonly string[] = PROTOCOLS[system]
  if (url === null || !protocols.includes(url.protocol) || url.hash !== '') return null
  const known: readonly string[] = serverParameters[system]
  const parameters = [...url.searchParams]
  if (!parameters.every(([name]) => known.includes(name)) || wrongMode(url) !== null) return null
  const [user, database, password] = [url.username, url.pathname.slice(1), url.password].map(
    unescaped,
  )
  if (!user || !database || password == null || url.hostname === '') return null
  const host = url.hostname.replace(/^\[(.*)\]$/, '$1')
  const port = url.port === '' ? PORTS[system] : Number(url.port)
  return { host, port, user, database, parameters, password: password === '' ? null : password }
}

/** For a parameter behind the `?` that is not known, or has no such value. */
export function parameterHint(text: string, system: ServerSystem): string | undefined {
  const words = fromWords(text, system)
  if (words !== null) return words
  const url = URL.canParse(text) ? new URL(text) : null
  if (url === null) return undefined
  // SQLAlchemy names a driver too.
  if (url.protocol.includes('+')) return `write ${system}:// without the driver`
  const known: readonly string[] = serverParameters[system]
  const wrong = [...url.searchParams.keys()].find((name) => !known.includes(name))
  if (wrong !== undefined)
    return didYouMean(wrong, known) ?? `supported after the ? are ${known.join(', ')}`
  const mode = wrongMode(url)
  return mode === null
    ? undefined
    : (didYouMean(mode, SSL_MODES) ?? `sslmode is one of ${SSL_MODES.join(', ')}`)
}

/** libpq also takes `host=db.example dbname=shop user=reader`. */
function fromWords(text: string, system: ServerSystem): string | null {
  const pairs = [...text.matchAll(/(\w+)\s*=\s*([^\s']+)/g)]
  const of = Object.fromEntries(pairs.map(([, name, value]) => [name, value]))
  const { host, dbname, user } = of
  if (text.includes('://') || (host ?? dbname) === undefined) return null
  return `write it as a URL: ${system}://${user ?? 'reader'}@${host ?? 'localhost'}/${dbname ?? 'shop'}`
}

function wrongMode({ searchParams }: URL): string | null {
  const mode = searchParams.get('sslmode')
  return mode === null || SSL_MODES.includes(mode) ? null : mode
}

function unescaped(text: string): string | null {
  try {
    return decodeURIComponent(text)
  } catch {
    return null
  }
}
