// What a format of answers must implement. Each format is one file here that exports one such object; all of them are in
// formats.ts.

import type { BoundRequest } from '../../bind/bound.ts'
import type { AnsweredAs, FormatName } from '../../protocol/formats.ts'
import type { Representation } from '../choose/representation.ts'
import type { Content, Exchange } from '../context.ts'

/** A request that the format may answer. */
export type RequestFor<F extends FormatName> = Extract<
  BoundRequest,
  { readonly kind: KindOf<AnsweredAs<F>> }
>

type KindOf<Kind> = Kind extends 'value' ? 'property' : Kind

// A method, not a property: the object of a format then stands for that of any.
export interface AnswerFormat<Bound extends BoundRequest = BoundRequest> {
  make(exchange: Exchange, bound: Bound, chosen: Representation): Content | Promise<Content>
}
