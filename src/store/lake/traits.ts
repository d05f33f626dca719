import type { LakeSettings } from '../../core/lake.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { readStateFiles } from '../files/snapshot-directory.ts'
import type { TargetTraits } from '../traits.ts'

export const lakeTraits = (
  paths: ProjectPaths,
  { catalog, schema }: LakeSettings,
): TargetTraits => ({
  place: JSON.stringify([catalog, schema]),
  directory: null,
  isPulled: true,
  hasKeys: true,
  borrows: false,
  // As `eider pull` has brought it.
  readStates: () => readStateFiles(paths.snapshots),
  async requireReadable() {
    const { lakeStore } = await import('./store.ts')
    await lakeStore(paths).warehouse.exists()
  },
})
