// Whether the file of a warehouse is there; its engine is not needed for that.

import { statSync } from 'node:fs'
import { EnvironmentError } from '../../core/failures.ts'
import type { ProjectPaths } from '../../core/project.ts'
import { hintOfSystem, problemOfSystem } from '../../files/system-errors.ts'

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
