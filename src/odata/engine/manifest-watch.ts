// File events of the snapshots directory: they make a swap prompt. Where there are none, a timer finds it.

import { type FSWatcher, watch } from 'node:fs'
import { MANIFEST_FILE } from '../../core/snapshot.ts'

export interface ManifestWatch {
  /** Watches unless it does already; the directory does not exist before the first publish. */
  ensure(): void
  close(): void
}

/** `onChange` is called when the manifest may have changed. */
export function createManifestWatch(dir: string, onChange: () => void): ManifestWatch {
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
