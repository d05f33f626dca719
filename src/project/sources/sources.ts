// `sources` of eider.yml: tables of other databases and files that models read by name.

import { type Node, type YAMLMap, isMap } from 'yaml'
import type { ExternalSource, FileSecret, SourceKind } from '../../core/sources.ts'
import { foldCase } from '../../core/names.ts'
import { didYouMean } from '../../core/suggest.ts'
import { type Environments, variableOf } from '../environment-values.ts'
import { entriesOf, isAbsent, membersOf, type Reader, spanOf } from '../members.ts'
import { fromEnvironment } from './environment.ts'
import { sourceKeys, sourceOptions, sourceReaders } from './kinds.ts'
import { type Group, namedGroups, type SourcePlace, type SourceReader, textOf } from './nodes.ts'
import type { DeclaredSecret } from './secrets.ts'
import { readSourceTables } from './tables.ts'

export const SOURCE_KEYS: readonly string[] = [
  ...sourceKeys,
  'schema',
  ...sourceOptions.keys(),
  'secret',
  'tables',
]
/** Catalogs of DuckDB, and its default schema, which a name of two parts would mean first. */
const RESERVED = ['main', 'memory', 'temp', 'system', 'information_schema', 'pg_catalog']
const EXPECTED_SOURCE = 'a group with tables, and database where they are in one'

const emptyHint = 'write it after the colon, or delete the line where each table is a file'

/** Words of other tools, or of the level below. */
function hintForKey(key: string): string | undefined {
  if (/^(?:files?|path|csv|parquet|json|xlsx|sheet|columns|iceberg|delta)$/.test(key))
    return 'a file is a setting of a table: tables: {rates: {file: data/rates.csv}}'
  if (/^(?:url|uri|host|port|user|username|password|dbname|connection|dsn|type)$/.test(key))
    return 'a server is one URL: postgres: postgres://reader@db.example/shop'
  return undefined
}

interface SourceDeclarations extends Reader {
  readonly environments: Environments
  readonly secrets: ReadonlyMap<string, DeclaredSecret>
}

export function readSources(
  node: Node | null,
  declarations: SourceDeclarations,
): readonly ExternalSource[] {
  const { refuse } = declarations
  const names = new Set<string>()
  const groups = namedGroups(node, 'sources', 'a group of sources by name', declarations)
  return groups.flatMap(({ name, key, value }) => {
    const path = `sources.${name}`
    const isTaken = !isName(name) || isReserved(name) || names.has(foldCase(name))
    names.add(foldCase(name))
    if (isTaken) refuse(key, path, 'a unique name without dots that DuckDB does not reserve')
    else if (isMap(value)) return [readSource(name, key, value, declarations)]
    else refuse(value ?? key, path, EXPECTED_SOURCE)
    return []
  })
}

function readSource(
  name: string,
  at: Node,
  node: YAMLMap,
  declarations: SourceDeclarations,
): ExternalSource {
  const { source, environments, secrets } = declarations
  const path = `sources.${name}`
  const environment = fromEnvironment(name, path, source, environments)
  const place = { at, hintFor: hintForKey }
  const group = { ...membersOf(node, path, SOURCE_KEYS, declarations, place), environment }
  for (const { name: key, key: written, value } of entriesOf(node))
    if (sourceKeys.includes(key) && isAbsent(value))
      declarations.refuse(written, `${path}.${key}`, 'followed by where the tables are', emptyHint)
  const { kind, database, server, schema } = placeOf(group, name)
  const named = textOf(group, 'schema', 'the name of a schema')?.value
  // A key that is misspelt has been named already.
  const isWhole = SOURCE_KEYS.filter(group.has).length === node.items.length
  if (!group.has('tables') && isWhole)
    group.refuseMember(null, EXPECTED_SOURCE, 'list the tables that models read under "tables"')
  const tables = readSourceTables(group, {
    isInDatabase: database !== null,
    isOnServer: sourceReaders[kind].isOnServer,
  })
  const secret = secretOf(group, secrets, tables)
  return {
    name,
    database: database?.written ?? null,
    location: database?.value ?? null,
    kind,
    server,
    schema: named ?? schema,
    secret: secret?.secret ?? null,
    isProxied: hasProxy(environments),
    tables,
    mistakes: [...environment.mistakes, ...(secret?.mistakes ?? [])],
    hidden: [...environment.hidden, ...(secret?.hidden ?? [])],
    source,
    span: spanOf(at),
  }
}

/** What the first of the keys says that tell where the tables are. */
function placeOf(group: Group, name: string): SourcePlace & { readonly kind: SourceKind } {
  const [first, second] = sourceKeys.filter(group.has)
  if (second !== undefined) group.refuseMember(second, `left out: the source has ${first}`)
  const kinds = Object.entries(sourceReaders) as [SourceKind, SourceReader][]
  const [kind, reader] = kinds.find(([, { key }]) => key === (first ?? null))!
  for (const [option, reason] of sourceOptions)
    if (group.has(option) && !Object.hasOwn(reader.options, option))
      group.refuseMember(option, `left out: ${reason}`)
  return { kind, ...reader.read(group, name) }
}

function secretOf(
  group: Group,
  secrets: ReadonlyMap<string, DeclaredSecret>,
  tables: ExternalSource['tables'],
): DeclaredSecret | null {
  const text = textOf(group, 'secret', 'the name of a secret')
  if (text === null) return null
  const found = secrets.get(text.written)
  if (found === undefined) {
    const known = [...secrets.keys()]
    const hint =
      didYouMean(text.written, known) ??
      (known.length === 0 ? 'declare it under secrets' : `the secrets are ${known.join(', ')}`)
    return group.refuseMember('secret', 'the name of a secret of this file', hint)
  }
  const scheme = found.type === 's3' ? 's3://' : 'https://'
  const isFor = ({ file }: { readonly file: string | null }) =>
    file !== null && (file.startsWith('${') || schemeIsFor(found.type, file))
  if (!tables.some(isFor))
    group.refuseMember('secret', `a secret that the files need: ${text.written} is for ${scheme}`)
  return found
}

const schemeIsFor = (type: FileSecret['type'], file: string) =>
  type === 's3' ? file.startsWith('s3://') : /^https?:\/\//.test(file)

const hasProxy = (environments: Environments): boolean =>
  ['http_proxy', 'https_proxy', 'all_proxy'].some(
    (name) =>
      (variableOf(name, environments) ?? variableOf(name.toUpperCase(), environments)) !== null,
  )

/** Names of eider's own databases begin with that of its schema. */
const isReserved = (name: string) =>
  RESERVED.includes(foldCase(name)) || foldCase(name).startsWith('_eider')

const isName = (name: string) => /^[^.\p{Cc}]+$/u.test(name)
