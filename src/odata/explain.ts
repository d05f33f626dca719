// What a request would mean on the published snapshot, for people who debug one. The snapshot is opened as by the service;
// the request itself is not run.

import { Resources } from '../core/resources.ts'
import { type Explanation, explainTarget } from './answer/explain.ts'
import { Snapshots } from './engine/current-snapshot.ts'
import type { ODataServiceOptions } from './service.ts'

/** `target`: path below the service root and query, as it would be sent. Throws RequestError as a request would. */
export async function explainRequest(
  target: string,
  options: ODataServiceOptions,
): Promise<Explanation> {
  const { published, memoryLimit = null, tempDir, logger } = options
  const { keyAsSegment = false, host, port, now = () => new Date() } = options
  await using resources = new Resources()
  const engine = { published, threads: 1, memoryLimit, tempDir, logger }
  const snapshots = resources.use(await Snapshots.open(engine))
  const { model } = resources.use(snapshots.lease())
  const root = `http://${host}:${port}/odata/`
  return explainTarget(target, model, { root, keyAsSegment, now: now() })
}
