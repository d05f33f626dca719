// Publishes one model as if it were exposed, for `eider odata preview`.

import { randomUUID } from 'node:crypto'
import { EnvironmentError } from '../core/failures.ts'
import type { Model } from '../core/model.ts'
import { type ModelName, splitModelName } from '../core/names.ts'
import type { ProjectPaths } from '../core/project.ts'
import { catalogKey, readCatalog } from '../duckdb/catalog.ts'
import { type Connection, Database } from '../duckdb/database.ts'
import { materializationOf } from './build/materialize/kinds.ts'
import { publish } from './store/publish.ts'
import { attachWarehouseToRead, hasWarehouse } from './store/warehouse.ts'

export interface PreviewOptions {
  readonly paths: ProjectPaths
  readonly memoryLimit: string | null
  readonly models: ReadonlyMap<ModelName, Model>
  readonly model: Model
  /** The snapshots directory to publish in. */
  readonly dir: string
}

/**
 * The other sets of `dir` stay as they are; the model's rows are those of the warehouse, which is only read. Throws
 * EnvironmentError: `not-built`, and those of openWarehouseToRead().
 */
export async function publishPreview(options: PreviewOptions): Promise<void> {
  const { paths, memoryLimit, models, model, dir } = options
  await using database = await Database.open({
    path: ':memory:',
    searchDir: paths.dir,
    memoryLimit,
  })
  await using connection = await database.connect()
  if (hasWarehouse(paths)) await attachWarehouseToRead(connection, paths)
  await requireBuilt(connection, model)
  const key = materializationOf(model).rowKey(model)
  const asExposed = { ...model, expose: model.expose ?? { key, span: NOWHERE } }
  const others = [...models.values()].filter(({ name }) => name !== model.name)
  await publish({
    connection,
    dir,
    runId: 'preview',
    models: [...others, asExposed],
    versions: new Map([[model.name, randomUUID()]]),
    now: new Date(),
    onFailure: (_, error) => {
      throw error
    },
  })
}

const NOWHERE = { start: 0, end: 0 }

async function requireBuilt(connection: Connection, { name }: Model): Promise<void> {
  const { schema, table } = splitModelName(name)
  const { relations } = await readCatalog(connection)
  if (relations.has(catalogKey(schema, table))) return
  throw new EnvironmentError('not-built', `${name} is not in the warehouse yet`, {
    hint: `build it: eider run +${name}`,
  })
}
