// Whether a service answers the functions of geography: for that its engines load one extension, the file of which is there
// already and signed. A service begins without it, too.

import type { Extensions } from '../../core/extensions.ts'
import type { Logger } from '../../core/logger.ts'
import { problemOfExtensions } from '../../duckdb/extensions.ts'
import type { GeoSupport } from '../protocol/conventions.ts'

/** The only one that a service loads: OData has no function for what others do. */
const GEO_EXTENSION = 'spatial'

interface LoadedForGeo {
  readonly geo: GeoSupport
  /** What each engine is to load. */
  readonly extensions: Extensions | undefined
}

/** `named` are the extensions of the project. The log has why one that is named is not loaded. */
export async function openGeo(
  named: Extensions | undefined,
  logger: Logger,
): Promise<LoadedForGeo> {
  if (named?.names.includes(GEO_EXTENSION) !== true)
    return { geo: 'unnamed', extensions: undefined }
  const extensions = { ...named, names: [GEO_EXTENSION] }
  const problem = await problemOfExtensions(extensions)
  if (problem === null) return { geo: 'served', extensions }
  logger.warn('geo-unserved', { problem: problem.message, hint: problem.hint })
  return { geo: 'unloaded', extensions: undefined }
}
