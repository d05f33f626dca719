// What OpenLineage calls the tables and files of a project. Where its naming conventions have a name, this is it, so that
// what other tools tell of the same table is told of the same dataset.

import { hostAndPort } from '../../core/host-text.ts'
import { resolve } from 'node:path'
import { hide } from '../../core/hidden.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import {
  type ExternalSource,
  type ExternalTable,
  isRemote,
  type SourceKind,
} from '../../core/sources.ts'
import { urlParts } from './told-text.ts'

export interface DatasetName {
  readonly namespace: string
  readonly name: string
}

type Namer = (source: ExternalSource, table: ExternalTable, dir: string) => DatasetName | null

/** null: what is written does not tell, since a variable is not set. A kind that is missing here does not compile. */
const namers: Readonly<Record<SourceKind, Namer>> = {
  files: ({ hidden }, { location }, dir) =>
    location === null
      ? null
      : fileName(isRemote(location) ? hide(location, hidden) : location, dir),
  duckdb: ({ location, schema }, { name }, dir) =>
    location === null
      ? null
      : { namespace: `duckdb://${resolve(dir, location)}`, name: `${schema}.${name}` },
  sqlite: ({ location }, { name }, dir) =>
    location === null ? null : { namespace: `sqlite://${resolve(dir, location)}`, name },
  postgres: ({ server, schema }, { name }) =>
    server === null
      ? null
      : {
          namespace: `postgres://${hostAndPort(server.host, server.port)}`,
          name: `${server.database}.${schema}.${name}`,
        },
  mysql: ({ server }, { name }) =>
    server === null
      ? null
      : {
          namespace: `mysql://${hostAndPort(server.host, server.port)}`,
          name: `${server.database}.${name}`,
        },
}

/** A file, a pattern or a URL. What stands before the host or behind the path of a URL may be a secret. */
export function fileName(path: string, dir: string): DatasetName {
  if (!isRemote(path)) return { namespace: 'file', name: resolve(dir, path) }
  const { scheme, place } = urlParts(path)
  const [host = '', ...rest] = place.split('/')
  return { namespace: `${scheme}://${host}`, name: rest.join('/') || '/' }
}

/** The names of models, and of tables of sources as `source.table`. */
export function datasetNames(
  { external }: Pick<CompiledProject, 'external'>,
  own: string,
  dir: string,
): (name: string) => DatasetName {
  const found = new Map<string, DatasetName>()
  for (const source of external?.sources ?? [])
    for (const table of source.tables) {
      const named = namers[source.kind](source, table, dir)
      if (named !== null) found.set(`${source.name}.${table.name}`, named)
    }
  return (name) => found.get(name) ?? { namespace: own, name }
}

/** Files that a model names itself; those of sources are tables of these. */
export function filesReadBy(
  model: Model,
  { external }: Pick<CompiledProject, 'external'>,
): readonly string[] {
  if (model.kind === 'seed') return [model.source.path]
  const ofSources = new Set(
    (external?.tables ?? []).filter(({ name }) => model.sources.includes(name)).map(pathOf),
  )
  return model.files.filter((file) => !ofSources.has(file))
}

const pathOf = ({ path }: { readonly path: string }) => path
