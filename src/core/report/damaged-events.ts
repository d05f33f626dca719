// Events that were accepted, whose bytes have changed on disk since: they are in no table.

import { count } from '../counts.ts'
import type { ModelName } from '../names.ts'

export interface DamagedEvents {
  readonly target: ModelName
  /** The file that keeps them. */
  readonly path: string
  readonly bytes: number
  /** How many events there were, as far as that can be known. */
  readonly events: number
}

export const damagedText = ({ events, bytes, path }: Omit<DamagedEvents, 'target'>): string =>
  `${count(events, 'event')} changed on disk and not in the table: ${count(bytes, 'byte')}, kept in ${path}`

export const WHAT_TO_DO_WITH_DAMAGED =
  'send them again, or do without them; then take the file away'
