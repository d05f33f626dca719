/** Shared by all targets of a buffer. */
export interface Usage {
  storedBytes: number
  /** Appended and not yet on disk. */
  pendingBytes: number
  /** When the disk last refused something; null after a success. */
  failedAt: Date | null
}
