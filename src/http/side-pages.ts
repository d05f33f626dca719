// What a service sends besides the resources of its own protocol: pages for people, and what those load.

import type { Snapshot } from '../core/snapshot.ts'

export interface SidePages {
  /**
   * What a GET of that path is answered with; null where there is nothing. `snapshot` is the one that is served; `part` is not empty
   * where it has only what one reader may see, and then differs from that of others.
   */
  find(path: string, snapshot: Snapshot | null, part: string): Promise<SidePage | null>
}

export interface SidePage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}
