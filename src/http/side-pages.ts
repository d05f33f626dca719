// What a service sends besides the resources of its own protocol: pages for people, and what those load.

import type { Snapshot } from '../core/snapshot.ts'

export interface SidePages {
  /** What a GET of that path is answered with; null where there is nothing. */
  find(asked: AskedPage): Promise<SidePage | null>
}

export interface AskedPage {
  readonly path: string
  /** Without the question mark. */
  readonly query: string
  /** The one that is served. */
  readonly snapshot: Snapshot | null
  /** Not empty where `snapshot` has only what one reader may see, and then differs from that of others. */
  readonly part: string
  /** Absolute URL of the service's own resources, with a slash at the end. */
  readonly root: string
  /** The answer to a GET below `root` by who asks for the page; null where it is refused, a stream, or given up. */
  readonly read: (target: string, asked: Reading) => Promise<Read | null>
}

export interface Reading {
  /** With names in small letters. */
  readonly headers: Readonly<Record<string, string>>
  readonly gone: AbortSignal
}

export interface Read {
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
}

export interface SidePage {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer
  /** Rows of sets in it, for the log; none unless it says so. */
  readonly rows?: number
}
