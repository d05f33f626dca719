// Limits of what other tools are sent, and of what their files say.

import { KiB, MiB } from './byte-sizes.ts'

export const exchangeLimits = {
  /** A collector of lineage that does not answer in this time is given up for the run. */
  lineageTimeoutMs: 2000,
  /** What is left of the lineage of a run when it ends, which delays the end of the process, as for a trace. */
  lineageEndMs: 2000,
  /** Events of lineage that are under way at a time: a collector takes some milliseconds for each. */
  lineageLanes: 4,
  /** Events of lineage that wait: some thousand models of some kilobytes. */
  lineageWaitingBytes: 32 * MiB,
  /** An answer of a collector of lineage or of a webhook up to this size is read, so that the connection can be used again. */
  droppedAnswerBytes: 4 * KiB,
  /** A contract that is imported: those of hundreds of tables have some hundred KiB, and as YAML it takes a hundred times as much. */
  exchangedFileBytes: 4 * MiB,
  /** Mistakes of one file that are shown: the place of each is looked for in its text. */
  exchangedMistakes: 100,
} as const
