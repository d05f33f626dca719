// File events of the snapshots directory: they make a swap prompt. Where there are none, a timer finds it.

import { type FSWatcher, watch } from 'node:fs'
import { MANIFEST_FILE } from '../../core/snapshot.ts'
import type { Following } from '../snapshot-reader.ts'

export function watchManifest(dir: string, onChange: () => void): Following {
  let watcher: FSWatcher | null = null
  const close = () => {
    watcher?.close()
    watcher = null
  }
  const ensure = () => {
    if (watcher !== null) return
    try {
      watcher = watch(dir, { persistent: false }, (_, file) => {
        if (file === null || file === MANIFEST_FILE) onChange()
      })
    } catch {
      return // looked for again with the next look at the manifest
    }
    watcher.on('error', close)
  }
  return { ensure, close }
}
