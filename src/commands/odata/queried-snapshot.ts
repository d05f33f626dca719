// The query of `eider odata preview` and `eider odata explain` on a command line, and the snapshot with the rows: the
// published one, or one of the rows in the warehouse where the model is not published.

import type { Resources } from '../../core/resources.ts'
import { entitySetName } from '../../core/names.ts'
import type { Project } from '../../project/project.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import { findModel } from '../find-model.ts'

export interface Queried {
  /** Path below the service root and query, percent-encoded. */
  readonly target: string
  readonly published: SnapshotReader
}

/** Throws UsageError for an unknown model, and what a compile throws. */
export async function queriedSnapshot(
  { paths, files, settings }: Project,
  { resource, query = '' }: { readonly resource: string; readonly query?: string | undefined },
  resources: Resources,
): Promise<Queried> {
  const { compileOnce } = await import('../../compiler/compile-once.ts')
  const { dir, state } = paths
  const compiled = await compileOnce(files, { dir, state, save: false })
  const { models } = compiled
  const [, name = '', path = ''] = /^([^(/?]*)(.*)$/s.exec(resource) ?? []
  const model = findModel(compiled, name)
  const options = query.replace(/^(?=.)\??/, path.includes('?') ? '&' : '?')
  // A query on a command line may contain spaces, as in a browser's address bar.
  const target = `${entitySetName(model.name)}${path}${options}`.replaceAll(
    /[^\u0021-\u007e]/gu,
    encodeURIComponent,
  )
  const { openStore } = await import('../../store/open-store.ts')
  const store = openStore(paths)
  const relations = (await store.snapshots.current())?.relations ?? []
  if (relations.some((relation) => relation.model === model.name))
    return { target, published: store.published }
  const { publishPreview } = await import('../../pipeline/preview.ts')
  const { makeScratch } = await import('../../pipeline/store/scratch.ts')
  const scratch = resources.use(await makeScratch(paths, store))
  await publishPreview({
    dir,
    warehouse: store.warehouse,
    memoryLimit: settings.memory_limit,
    extensions: files.extensions,
    models,
    model,
    snapshots: scratch.store.snapshots,
  })
  return { target, published: scratch.store.published }
}
