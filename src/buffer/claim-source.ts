// What the flush of a run needs from a buffer: opened in this process, or a daemon's over HTTP.

import { fileURLToPath } from 'node:url'
import type { ModelName } from '../core/names.ts'
import type { DamagedEvents } from '../core/report/damaged-events.ts'

/** A sealed segment handed to a runner. Its bytes never change; `id` is the identity of the segment, also over restarts. */
export interface Claim {
  /** `<schema>.<table>/<segment sequence>`. Primary key of the ack record. */
  readonly id: string
  /** Name of the machine whose buffer accepted the events. */
  readonly collector: string
  readonly target: ModelName
  /** Number of the segment, ascending per target. */
  readonly segment: number
  /** Which opening of the buffer made it (segment.ts); with the number what `_eider.flush_position` knows it by. */
  readonly opening: number
  /** The oldest segment that the buffer had when it answered. A lower one than `segment` is, or was, another runner's. */
  readonly oldestSegment: number
  readonly events: number
  readonly bytes: number
  /** Where the segment is read from; its file, so that it is read in place. */
  readonly url: string
  /** Sequence numbers of the first and last event. */
  readonly firstSeq: number
  readonly lastSeq: number
  /** When the last event was accepted, ISO 8601 in UTC. A run stops after a claim that is younger than itself. */
  readonly newest: string
}

/** A segment that is only read: all lines at `url` belong to valid groups. */
export type WaitingSegment = Pick<Claim, 'target' | 'segment' | 'opening' | 'events' | 'url'>

/** The path by which DuckDB reads a segment: it does not decode escapes in a file URL. */
export const locationOf = ({ url }: Pick<Claim, 'url'>): string =>
  url.startsWith('file:') ? fileURLToPath(url) : url

/** Where a run claims events, and acks or returns them. */
export interface ClaimSource extends AsyncDisposable {
  /** Targets that the buffer knows, claimed or buffered. */
  targets(): Promise<readonly ModelName[]>
  /** Open claims of a target, oldest first. */
  inflight(target: ModelName): Promise<readonly Claim[]>
  /** Seals and hands out the oldest buffered segment; null when nothing is buffered. */
  claim(target: ModelName): Promise<Claim | null>
  /**
   * The claim as it was given where its bytes are those that were accepted. Else groups that have changed on disk are taken
   * out of it, and kept (damaged.ts); null when nothing else is left, and then the claim is gone.
   */
  verify(claim: Claim): Promise<Claim | null>
  damaged(): Promise<readonly DamagedEvents[]>
  /** Removes the segment durably. Again: no change. Returns the events removed. */
  ack(claim: Pick<Claim, 'id' | 'target'>): Promise<number>
  /** Gives the events back to the queue. Again, or after an ack: no change. Returns the events given back. */
  nack(claim: Pick<Claim, 'id' | 'target'>): Promise<number>
}
