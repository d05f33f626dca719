import { readFile } from 'node:fs/promises'
import type { Catalog } from '../../src/core/catalog.ts'
import { parseManifest } from '../../src/core/snapshot.ts'
import type { Workspace } from './workspace.ts'

/** What is published of the last builds, by model. */
export async function catalogStates(space: Workspace): Promise<Catalog['states']> {
  const read = (name: string) => readFile(space.path('.eider/snapshots', name), 'utf8')
  const { id } = parseManifest(await read('manifest.json'))
  const { states } = JSON.parse(await read(`catalog-${id}.json`)) as Pick<Catalog, 'states'>
  return states
}
