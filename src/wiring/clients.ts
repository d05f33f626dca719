// How commands that publish learn whether clients of the OData service would break, and who they are.

import { opens } from '../access/reader.ts'
import type { ModelName } from '../core/names.ts'
import type { Clients } from '../pipeline/guard-clients.ts'
import type { TokensOf } from '../pipeline/read-by.ts'
import type { Project } from '../project/project.ts'

type Tokens = Project['readers']['tokens']

/** `accepted`: the models of which any change is accepted; null: all. `tokens`: those of `odata.tokens`. */
export const clientsOf = (
  accepted: ReadonlySet<ModelName> | null,
  tokens: Tokens = [],
): Clients => ({
  accepted,
  tokensOf: tokensAmong(tokens),
  async changesOf(before, after) {
    const { shapeChanges } = await import('../odata/edm/contract.ts')
    return shapeChanges(before, after)
  },
})

export const tokensAmong =
  (tokens: Tokens): TokensOf =>
  (set) =>
    tokens.flatMap((token) => (opens(token, set) ? [token.name] : []))
