// All kinds of credentials. A kind that is missing here does not compile.

import type { IncomingHttpHeaders } from 'node:http'
import type { AccessList, Credential, CredentialKind, Who } from './credential.ts'
import { hashedTokens } from './hashed-tokens.ts'
import { signedSenders } from './signed-senders.ts'

/** In the order in which they are asked whether a request is theirs to judge. */
const credentials: Readonly<Record<CredentialKind, Credential>> = {
  'signed-sender': signedSenders,
  'hashed-token': hashedTokens,
  anonymous: { judges: () => true, identify: () => null },
}
const inOrder = Object.values(credentials)

/** Who a request is from: at once where nothing has to be fetched. Throws AccessError, or rejects with it. */
export function identify(
  headers: IncomingHttpHeaders,
  accepted: AccessList,
  now: () => Date = () => new Date(),
): Who | Promise<Who> {
  for (const credential of inOrder)
    if (credential.judges(headers, accepted)) return credential.identify(headers, accepted, now)
  throw new Error('no credential is for this request')
}
