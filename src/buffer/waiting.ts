// What waits in a buffer that another process may own: looked at from outside, nothing is locked or changed.

import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { ModelName } from '../core/names.ts'
import { parseSegmentFileName } from './segment.ts'
import { parseDirectoryName } from './target-directory.ts'

/** Bytes of events of each target that has any; none where there is no buffer. */
export async function waitingBytes(bufferDir: string): Promise<ReadonlyMap<ModelName, number>> {
  const waiting = new Map<ModelName, number>()
  for (const name of await namesIn(bufferDir)) {
    const target = parseDirectoryName(name)
    if (target === null) continue
    let bytes = 0
    for (const file of await namesIn(join(bufferDir, name)))
      if (parseSegmentFileName(file) !== null) bytes += await sizeOf(join(bufferDir, name, file))
    if (bytes > 0) waiting.set(target, bytes)
  }
  return waiting
}

const namesIn = (dir: string): Promise<readonly string[]> => readdir(dir).catch(() => [])

/** A segment may be flushed and gone between the two looks. */
const sizeOf = (path: string): Promise<number> =>
  stat(path).then(
    ({ size }) => size,
    () => 0,
  )
