// What a credential is: a way by which requests say who they are from. credentials.ts has all kinds.

import type { IncomingHttpHeaders } from 'node:http'
import type { SourceFile, Span } from '../core/source-text.ts'
import type { ScopeName } from './reader.ts'

export type CredentialKind = 'signed-sender' | 'hashed-token' | 'anonymous'

/** Somebody with a name. */
export interface Principal {
  /** For the log. */
  readonly name: string
  /** The moment from which the credential is no longer accepted; null: never. */
  readonly expiresAt: Date | null
  /** Names of targets or sets; null: all. */
  readonly scope: readonly ScopeName[] | null
  /**
   * Throws AccessError for a body that is not theirs, by the headers of its request. Without it, the head says enough.
   */
  readonly requireBody?: (body: Uint8Array, headers: IncomingHttpHeaders, nowMs: number) => void
}

export interface NamedToken extends Principal {
  /** SHA-256 of the token, in hexadecimal digits. */
  readonly hash: string
}

/** How a service signs: which header, and what of the request. */
export const signatureShapes = ['github', 'stripe'] as const

export type SignatureShape = (typeof signatureShapes)[number]

export interface SignedSender {
  readonly name: string
  /** The events model that it posts to. */
  readonly target: string
  readonly shape: SignatureShape
  /** Each is good, so that one can be replaced without an outage. */
  readonly secrets: readonly string[]
  /** How far the time in a signature may be from now, for shapes that have one. */
  readonly toleranceMs: number
  /** The place of the target in eider.yml. */
  readonly source: SourceFile
  readonly span: Span
}

/** What a service accepts. Nothing: anybody may come. */
export interface AccessList {
  /** A token without a name, for all there is. */
  readonly token: string | null
  readonly named: readonly NamedToken[]
  /** The service that signs the requests to the target that is asked for. */
  readonly signer?: SignedSender | null
}

/** null: somebody without a name, who may see and do all. */
export type Who = Principal | null

export interface Credential {
  /** Whether it is for this kind to say who a request is from. */
  judges(headers: IncomingHttpHeaders, accepted: AccessList): boolean
  /** Throws AccessError, or rejects with it. A promise where something must be fetched first, such as a key. */
  identify(headers: IncomingHttpHeaders, accepted: AccessList, now: () => Date): Who | Promise<Who>
}

type AccessCode =
  'unauthorized' | 'token-expired' | 'unsigned' | 'invalid-signature' | 'signature-expired'

/** A request does not show who it is from. A server answers it with 401. */
export class AccessError extends Error {
  readonly code: AccessCode
  /** The header that is wrong, if it is not Authorization. */
  readonly target: string | null

  constructor(code: AccessCode, message: string, target: string | null = null) {
    super(message)
    this.code = code
    this.target = target
  }
}
