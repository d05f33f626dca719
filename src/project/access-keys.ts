// The keys of eider.yml that name the credentials of each kind. A kind that is missing here does not compile.

import type { CredentialKind } from '../access/credential.ts'

export const accessKeys = {
  'signed-sender': ['collect.webhooks'],
  'hashed-token': ['odata.tokens', 'collect.tokens'],
  anonymous: [],
} as const satisfies Readonly<Record<CredentialKind, readonly string[]>>

export type AccessKey = (typeof accessKeys)[CredentialKind][number]
