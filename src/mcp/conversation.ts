// Who asks what, and of which project.

import type { Catalog } from '../core/catalog.ts'
import type { Snapshot } from '../core/snapshot.ts'
import type { AskedService } from '../http/side-door.ts'

export interface AssistantOptions {
  readonly version: string
  /** What is known of a published state; `part` is that of SeenState. */
  readonly catalogOf: (snapshot: Snapshot, part: string) => Promise<Catalog>
  /** Called with what is neither a mistake of the assistant nor a refusal of the service. */
  readonly onFailure: (error: unknown) => void
}

export interface Conversation extends AssistantOptions {
  readonly service: AskedService
  /** Aborted when nobody waits for the answer any more. */
  readonly gone: AbortSignal
}
