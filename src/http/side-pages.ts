// What a service sends besides the resources of its own protocol: pages for people, and what those load.

import type { Reader } from '../access/reader.ts'
import type { Snapshot } from '../core/snapshot.ts'

export interface SidePages {
  /** What a GET of that path is answered with; null where there is nothing. */
  find(asked: AskedPage): Promise<SidePage | null>
}

interface AskedPage {
  readonly path: string
  /** The one that is served. */
  readonly snapshot: Snapshot | null
  /** Not empty where `snapshot` has only what one reader may see, and then differs from that of others. */
  readonly part: string
  /** Those who have tokens with names now. */
  readonly readers: readonly Reader[]
}

export interface SidePage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}
