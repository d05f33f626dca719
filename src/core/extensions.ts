// Extensions of the engine: those of its own repository, which are signed. No others are taken.

interface RepositoryEntry {
  /** Other names that the engine takes for it. */
  readonly aliases?: readonly string[]
  /** What it loads itself while it is loaded, and would fetch from the network. */
  readonly requires?: readonly string[]
}

const repository: Readonly<Record<string, RepositoryEntry>> = {
  avro: {},
  aws: {},
  azure: {},
  delta: {},
  ducklake: {},
  encodings: {},
  excel: {},
  fts: {},
  httpfs: { aliases: ['http', 'https', 's3'] },
  iceberg: { requires: ['avro'] },
  inet: {},
  lance: {},
  motherduck: { aliases: ['md'] },
  mysql_scanner: { aliases: ['mysql'] },
  odbc_scanner: { aliases: ['odbc'] },
  postgres_scanner: { aliases: ['postgres'] },
  quack: {},
  spatial: {},
  sqlite_scanner: { aliases: ['sqlite', 'sqlite3'] },
  tpcds: {},
  tpch: {},
  ui: {},
  unity_catalog: { aliases: ['uc_catalog'] },
  vortex: {},
  vss: {},
}

export const extensionNames: readonly string[] = Object.keys(repository)

/** With their aliases. */
export const extensionSpellings: readonly string[] = Object.entries(repository).flatMap(
  ([name, { aliases = [] }]) => [name, ...aliases],
)

/** In every engine; there is nothing to install. */
export const builtInExtensions: ReadonlySet<string> = new Set([
  'autocomplete',
  'core_functions',
  'icu',
  'json',
  'parquet',
])

/** The name of its file, by that name or an alias; null for what the repository does not have. */
export function extensionNamed(text: string): string | null {
  const name = text.toLowerCase()
  if (Object.hasOwn(repository, name)) return name
  const found = Object.entries(repository).find(([, { aliases }]) => aliases?.includes(name))
  return found?.[0] ?? null
}

/** With those that they need, each before what needs it. */
export const withRequired = (names: Iterable<string>): readonly string[] => [
  ...new Set(Array.from(names).flatMap((name) => [...(repository[name]?.requires ?? []), name])),
]

/** What an engine loads when it is opened, and where it looks for what it loads later. */
export interface Extensions {
  /** Absolute; holds `v<engine>/<platform>/<name>.duckdb_extension`. */
  readonly directory: string
  readonly names: readonly string[]
  /** Which files may be loaded; any that is signed where there is none. */
  readonly lock?: ExtensionLock | null
}

/** SHA-256 of files, by `v<engine>/<platform>` and the name of the extension. */
export type ExtensionLock = Readonly<Record<string, Readonly<Record<string, string>>>>
