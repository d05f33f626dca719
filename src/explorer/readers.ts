// GET /readers.json: which tokens with names read which set, for those who see the whole project.

import type { Reader } from '../access/reader.ts'
import { entitySetName } from '../core/names.ts'
import type { Snapshot } from '../core/snapshot.ts'
import { keepCoded } from '../http/content-coding.ts'
import type { SidePage } from '../http/side-pages.ts'

export function readersPage(readers: readonly Reader[], snapshot: Snapshot | null): SidePage {
  const sets: Record<string, readonly string[]> = {}
  for (const { model } of snapshot?.relations ?? []) {
    const set = entitySetName(model)
    const names = readers.flatMap((one) => (one.name !== null && one.sees(set) ? [one.name] : []))
    if (names.length > 0) sets[set] = names
  }
  const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache' }
  return { status: 200, headers, body: keepCoded(Buffer.from(JSON.stringify({ sets }))) }
}
