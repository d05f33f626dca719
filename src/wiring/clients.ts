// How commands that publish learn whether clients of the OData service would break.

import type { ModelName } from '../core/names.ts'
import type { Clients } from '../pipeline/guard-clients.ts'

/** `accepted`: the models of which any change is accepted; null: all. */
export const clientsOf = (accepted: ReadonlySet<ModelName> | null): Clients => ({
  accepted,
  async changesOf(before, after) {
    const { shapeChanges } = await import('../odata/edm/contract.ts')
    return shapeChanges(before, after)
  },
})
