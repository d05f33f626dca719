// All kinds of models. A kind that is missing here does not compile.

import type { Kind, Model } from '../../../core/model.ts'
import { append } from './append.ts'
import { events } from './events.ts'
import type { Materialization } from './materialization.ts'
import { merge } from './merge.ts'
import { period } from './period.ts'
import { scd2 } from './scd2.ts'
import { seed, table, view } from './from-nothing.ts'

export const materializations: {
  readonly [K in Kind]: Materialization<Extract<Model, { readonly kind: K }>>
} = { view, table, append, merge, period, scd2, events, seed }

export const materializationOf = ({ kind }: Model): Materialization => materializations[kind]
