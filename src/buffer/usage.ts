/** Shared by all targets of a buffer. */
export interface Usage {
  storedBytes: number
  /** Appended and not yet on disk. */
  pendingBytes: number
  /** When a write to the disk last failed; null after a success. */
  failedAt: Date | null
}
