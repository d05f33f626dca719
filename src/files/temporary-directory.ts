import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Resources } from '../core/resources.ts'

/** Outside of any project; it goes with the resources. */
export async function temporaryDirectory(resources: Resources, prefix = 'eider-'): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  resources.defer(() => rm(path, { recursive: true, force: true }))
  return path
}
