// Changes to the bytes of a file, as a disk in memory keeps them until they are synced.

export type ContentChange =
  { readonly at: number; readonly bytes: Buffer } | { readonly truncateTo: number }

/** The bytes after the change; what lies between the old end and a later write is zeros. */
export function applyChange(bytes: Buffer, change: ContentChange): Buffer {
  const sizeBytes =
    'truncateTo' in change
      ? change.truncateTo
      : Math.max(bytes.length, change.at + change.bytes.length)
  const changed = Buffer.alloc(sizeBytes)
  bytes.copy(changed)
  if ('bytes' in change) change.bytes.copy(changed, change.at)
  return changed
}

/** The first part of a write, `portion` (0 to 1) of it. A truncation has no parts. */
export function tear(change: ContentChange, portion: number): ContentChange {
  if ('truncateTo' in change) return change
  return {
    at: change.at,
    bytes: change.bytes.subarray(0, Math.floor(portion * change.bytes.length)),
  }
}
