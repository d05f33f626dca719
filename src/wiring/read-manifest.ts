// The manifest that `--against` names.

import { readFile } from 'node:fs/promises'
import { resolve } from 'node:path'
import { UsageError } from '../core/failures.ts'
import type { Manifest } from '../pipeline/catalog/earlier-manifest.ts'

/** `from`: the directory in which the command was typed. */
export async function readManifest(
  path: string | undefined,
  from: string,
): Promise<Manifest | undefined> {
  if (path === undefined) return undefined
  const { parseArtifact: parseManifest } = await import('../pipeline/catalog/earlier-manifest.ts')
  try {
    return parseManifest(await readFile(resolve(from, path), 'utf8'))
  } catch (error) {
    throw unreadableManifest(path, error)
  }
}

export function unreadableManifest(path: string, error: unknown): UsageError {
  const reason = error instanceof Error ? error.message : String(error)
  return new UsageError(`--against ${path} cannot be read: ${reason}`, {
    hint: 'write one in a checkout of the other state: eider check --manifest FILE; a run writes target/manifest.json',
  })
}
