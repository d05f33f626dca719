// Services that sign their requests instead of showing a token: what eider.yml says of each.

import type { SourceFile, Span } from './source.ts'

/** How a service signs: which header, and what of the request. */
export const signatureShapes = ['github', 'stripe'] as const

export type SignatureShape = (typeof signatureShapes)[number]

export interface Webhook {
  readonly name: string
  /** The events model that it posts to. */
  readonly target: string
  readonly shape: SignatureShape
  /** Each is good, so that one can be replaced without an outage. */
  readonly secrets: readonly string[]
  /** How far the time in a signature may be from now; of shapes that have one. */
  readonly toleranceMs: number
  /** Of the target in eider.yml. */
  readonly source: SourceFile
  readonly span: Span
}
