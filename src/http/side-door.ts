// Another protocol at the port of a service. What it sends is what the service answers to a GET of who asks, so a door
// knows neither rights nor rows.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Snapshot } from '../core/snapshot.ts'

/** Requests with a path for which a service has a door go through it. */
export interface SideDoor {
  readonly path: string
  /** Rejects with RequestError for what is no request of its protocol. */
  handle(request: IncomingMessage, response: ServerResponse, asked: AskedService): Promise<void>
}

/** A service as one reader may see it. */
export interface AskedService {
  /** Its absolute URL as who asks reaches it, with a slash at its end. */
  readonly root: string
  /** Aborted when who asks is gone. */
  readonly gone: AbortSignal
  /** What is served now; null where nothing is published yet. */
  seen(): Promise<SeenState | null>
  /**
   * The answer to a GET of a URL of the service, absolute or relative to its root. `read` is called once, and what the
   * answer is made from is closed after it. Rejects with RequestError.
   */
  get<T>(asked: AskedTarget, read: (answer: GivenAnswer) => Promise<T>): Promise<T>
}

interface AskedTarget {
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly gone: AbortSignal
}

export interface GivenAnswer {
  /** The absolute URL that it answers. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: Buffer | AsyncIterable<Buffer> | null
}

export interface SeenState {
  /** Without what who asks may not see. */
  readonly snapshot: Snapshot
  /** Not empty where it differs from what others see. */
  readonly part: string
  /** null: there is no such set for who asks. */
  readonly shapeOf: (set: string) => SetShape | null
}

/** A set as $metadata describes it. */
export interface SetShape {
  readonly key: readonly string[]
  readonly properties: readonly {
    readonly name: string
    readonly type: string
    readonly nullable: boolean
    readonly description: string | null
  }[]
  /** Numbers that $apply gives by their names. */
  readonly measures: readonly {
    readonly name: string
    readonly type: string
    readonly text: string
    readonly unit: string | null
    readonly description: string | null
  }[]
  /** Properties by which measures are mostly asked for. */
  readonly dimensions: readonly string[]
  /** Names of hierarchies, with the properties of their levels from the coarsest to the finest. */
  readonly levels: readonly { readonly name: string; readonly columns: readonly string[] }[]
  /** Names of hierarchies of rows, with the property that is a node. */
  readonly trees: readonly { readonly name: string; readonly node: string }[]
  readonly navigation: readonly {
    readonly name: string
    readonly target: string
    readonly many: boolean
  }[]
}
