// Limits of `eider maintain` for a warehouse in a file.

import { MiB } from './byte-sizes.ts'

export const upkeepLimits = {
  /** Free space in the file of a warehouse above which it is made again; less is used by later rows soon. */
  freeShare: 0.1,
  /** What a second file of the warehouse leaves free on its disk, for events and others. */
  spareDiskBytes: 64 * MiB,
} as const
