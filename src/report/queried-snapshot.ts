// The query of `eider odata preview` and `eider odata explain` on a command line, and the snapshot with the rows: the
// published one, or one of the rows in the warehouse where the model is not published. Only then is the project compiled,
// so that what is served can be looked at when its files say something else now.

import type { Resources } from '../core/resources.ts'
import { entitySetName, type ModelName, sameName } from '../core/names.ts'
import type { Project } from '../project/project.ts'
import type { SnapshotReader } from '../store/snapshot-reader.ts'

/** People copy it from a log or from an address bar, so the root may stand before it. */
const belowRoot = (resource: string): string =>
  /^(?:https?:\/\/[^/]*)?(?:\/[\w.~%-]+)*?\/odata\/(.*)$/is.exec(resource)?.[1] ??
  resource.replace(/^\/(?=.)/, '')

/** `target`: path below the service root and query, percent-encoded. Throws UsageError for an unknown model, and for one that is not published what findModel() throws. */
export async function queriedSnapshot(
  { paths, files, settings }: Project,
  { resource, query = '' }: { readonly resource: string; readonly query?: string | undefined },
  resources: Resources,
): Promise<{ readonly target: string; readonly published: SnapshotReader }> {
  const [, name = '', path = ''] = /^([^(/?]*)(.*)$/s.exec(belowRoot(resource)) ?? []
  const options = query.replace(/^(?=.)\??/, path.includes('?') ? '&' : '?')
  // A query on a command line may contain spaces, as in a browser's address bar.
  const targetOf = (model: ModelName) =>
    `${entitySetName(model)}${path}${options}`.replaceAll(/[^\u0021-\u007e]/gu, encodeURIComponent)
  const { openStore } = await import('../store/open.ts')
  const store = openStore(paths)
  const current = await store.published.current()
  // One that is damaged serves nothing.
  const relations = (await current?.read().catch(() => null))?.relations ?? []
  const isMeant = ({ model }: { readonly model: ModelName }) =>
    sameName(model, name) || sameName(entitySetName(model), name)
  const served = relations.find(isMeant)
  if (served !== undefined) return { target: targetOf(served.model), published: store.published }
  const { compileOnce } = await import('../compiler/compile-once.ts')
  const compiled = await compileOnce(files, { ...paths, save: false })
  const { models } = compiled
  const { findModel } = await import('../compiler/select.ts')
  const model = findModel(compiled, name)
  const { publishPreview } = await import('../pipeline/scratch.ts')
  const { makeScratch } = await import('../pipeline/scratch.ts')
  const scratch = resources.use(await makeScratch(paths, store))
  await publishPreview({
    warehouse: store.warehouse,
    memoryLimit: settings.memory_limit,
    extensions: files.extensions,
    models,
    model,
    snapshots: scratch.store.snapshots,
  })
  return { target: targetOf(model.name), published: scratch.store.published }
}
