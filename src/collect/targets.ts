// The events models that the daemon accepts events for, compiled to validators.

import type { EventsModel } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import { didYouMean } from '../core/suggest.ts'
import { refusal } from './errors.ts'
import type { Senders } from './senders.ts'
import { type Validator, createValidator } from './validate/validate-event.ts'

export type Validators = ReadonlyMap<ModelName, Validator>

/** What health shows. `stale`: the models on disk have errors, and the last good ones are served. */
export type ModelsState =
  { readonly models: 'current' } | { readonly models: 'stale'; readonly stale_since: string }

export interface Served {
  validators: Validators
  models: ModelsState
  senders: Senders
}

export function createValidators(targets: ReadonlyMap<ModelName, EventsModel>): Validators {
  return new Map([...targets].map(([name, model]) => [name, createValidator(model)]))
}

/** A project may have hundreds of them. */
const SHOWN_TARGETS = 5

/** 404 for a target that is not among `known`, naming the nearest. */
export function unknownTarget(schema: string, table: string, known: Iterable<ModelName>): Error {
  const name = `${schema}.${table}`
  const names = [...known]
  const shown = names.slice(0, SHOWN_TARGETS).join(', ')
  const others =
    names.length === 0
      ? 'the project has none'
      : `events go to ${shown}${names.length > SHOWN_TARGETS ? ', …' : ''}`
  const message = `there is no events model "${name}"; ${didYouMean(name, names) ?? others}`
  return refusal('unknown-target', message, { target: name })
}
