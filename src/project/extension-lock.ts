// eider.lock: which file of each extension the project has been built with. `eider extension install` writes it, to be
// committed, and a command that loads another file says so. JSON, so that a merge of two branches shows what differs:
//
//   {"v1.5.5/linux_amd64": {"excel": "<SHA-256 of the file>"}}

import { isObject } from '../core/object.ts'
import { rename, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { limits } from '../core/limits.ts'
import { readTextIfThere } from '../files/read-file.ts'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { ExtensionLock } from '../core/extensions.ts'
import { CONFLICT_HINT, conflictMarker } from '../core/source-text.ts'
import { unreadable } from './read-text.ts'

const LOCK_FILE = 'eider.lock'

const HASH = /^[0-9a-f]{64}$/

/** null: there is none. Throws DiagnosticsError. */
export async function readExtensionLock(dir: string): Promise<ExtensionLock | null> {
  const reading = readTextIfThere(join(dir, LOCK_FILE), limits.configFileBytes)
  const text = await reading.catch((error: unknown) => {
    throw new DiagnosticsError([unreadable(LOCK_FILE, error)])
  })
  if (text === null) return null
  const source = { path: LOCK_FILE, text }
  const marker = conflictMarker(text)
  const lock = marker === null ? parse(text) : null
  if (lock !== null) return lock
  const hint = 'delete the file, then: eider extension install'
  throw new DiagnosticsError([
    marker === null
      ? diagnostic('invalid-lock', {}, { source, span: { start: 0, end: 0 } }, hint)
      : diagnostic('merge-conflict', {}, { source, span: marker }, CONFLICT_HINT),
  ])
}

function parse(text: string): ExtensionLock | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const isLock =
    isObject(value) &&
    Object.values(value).every(
      (names) =>
        isObject(names) &&
        Object.values(names).every((hash) => typeof hash === 'string' && HASH.test(hash)),
    )
  return isLock ? (value as ExtensionLock) : null
}

/** Adds what was installed; what the file has of other engines and platforms stays. Whether anything is new. */
export async function writeExtensionLock(
  dir: string,
  before: ExtensionLock | null,
  key: string,
  installed: Readonly<Record<string, string>>,
): Promise<boolean> {
  const sorted = <T>(group: Readonly<Record<string, T>>) =>
    Object.fromEntries(Object.entries(group).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  const lock = sorted({ ...before, [key]: sorted({ ...before?.[key], ...installed }) })
  if (JSON.stringify(lock) === JSON.stringify(before)) return false
  const path = join(dir, LOCK_FILE)
  await writeFile(`${path}.tmp`, JSON.stringify(lock, null, 2) + '\n')
  await rename(`${path}.tmp`, path)
  return true
}
