// The catalog of a project as it is now, with what is published and what runs did as far as that is known: for `eider docs`.

import { CATALOG_FORMAT, type Catalog, type CatalogModel } from '../../core/catalog.ts'
import type { CompiledProject } from '../../core/model.ts'
import type { SnapshotStore } from '../../store/snapshots.ts'
import { pastRunsOf } from './catalog-text.ts'
import { describeModels, describeSet, describeSources } from './describe-project.ts'
import { NO_RUNS } from './past-runs.ts'

/** `removed` are shown beside those of the project. Nothing of the warehouse is opened. */
export async function describeState(
  name: string,
  project: CompiledProject,
  snapshots: Pick<SnapshotStore, 'current' | 'catalog'>,
  removed: readonly CatalogModel[] = [],
): Promise<Catalog> {
  const snapshot = await snapshots.current()
  const text = snapshot === null ? null : await snapshots.catalog(snapshot.id)
  const runs = (text === null ? null : pastRunsOf(text)) ?? NO_RUNS
  return {
    format: CATALOG_FORMAT,
    project: name,
    shows: 'project',
    is_whole: true,
    snapshot: snapshot?.id ?? '',
    published_at: snapshot?.publishedAt.toISOString() ?? '',
    run_id: snapshot?.runId ?? '',
    sets: snapshot?.relations.map(describeSet) ?? [],
    models: [...describeModels(project), ...removed],
    sources: describeSources(project),
    ...runs,
  }
}
