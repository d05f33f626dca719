import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { EnvironmentError } from '../../core/failures.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { hintOfSystem, problemOfSystem } from '../../files/system-errors.ts'
import type { TargetTraits } from '../traits.ts'
import { fileIdle } from './idle.ts'
import { readStateFiles } from './snapshot-directory.ts'

export const fileTraits = (paths: ProjectPaths): TargetTraits => ({
  place: paths.database,
  directory: dirname(paths.database),
  isPulled: false,
  hasKeys: false,
  borrows: true,
  readStates: () => readStateFiles(paths.snapshots),
  async requireReadable() {
    isThere(paths)
  },
  idle: fileIdle(paths),
})

/** Throws EnvironmentError `warehouse-unusable` where nobody can tell. */
export function isThere({ database }: ProjectPaths): boolean {
  try {
    statSync(database)
    return true
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return false
    const message = `the warehouse cannot be read: ${problemOfSystem(cause)}`
    const hint = hintOfSystem(cause) ?? 'check the permissions of its directory'
    throw new EnvironmentError('warehouse-unusable', message, { hint, cause })
  }
}
