// What a format for models is: one object each in formats.ts.

import type { Model } from '../core/model.ts'
import type { ModelName } from '../core/names.ts'
import type { Span } from '../core/source-text.ts'
import type { Reader } from '../project/members.ts'
import type { HeaderLine } from './header.ts'
import type { Group } from './nodes.ts'

export interface ExchangeFormat {
  /** What a file of it is, for people. */
  readonly title: string
  readonly write: (exported: Exported) => object
  /** Whether a document is of this format. */
  readonly matches: (root: Group) => boolean
  /** Mistakes are told to the reader. */
  readonly read: (root: Group, reading: Reading) => Said
}

export interface Exported {
  /** The name of the project. */
  readonly name: string
  readonly models: readonly ExposedModel[]
  /** The root of the service. */
  readonly url: string
  /** Of the contract; undefined: the first. */
  readonly version: string | undefined
}

export type ExposedModel = Model & { readonly expose: NonNullable<Model['expose']> }

/** Of a contract, unless it is told another. */
export const FIRST_VERSION = '1.0.0'

export interface Reading extends Reader {
  /** The name of the project. */
  readonly project: string
  /** The model that is known by its name or by that of its entity set. */
  readonly modelOf: (name: string) => Model | null
}

export interface Said {
  readonly models: readonly SaidOfModel[]
  /** What nothing here stands for, as its path in the document. */
  readonly left: readonly string[]
}

/** What a file says of one model. */
export interface SaidOfModel {
  /** null: there is none of that name. */
  readonly model: Model | null
  /** What a new model is called; null: no model can be made of this. */
  readonly newName: ModelName | null
  readonly name: string
  readonly span: Span
  /** What clients are promised; null: nothing. */
  readonly promise: Promised | null
  readonly lines: readonly HeaderLine[]
}

interface Promised {
  /** Empty: none is named. */
  readonly key: readonly string[]
  readonly columns: readonly SaidColumn[]
}

export interface SaidColumn {
  readonly name: string
  /** As the engine spells it; null: it is not told, or that of another system. */
  readonly type: string | null
  readonly logical: LogicalType | null
  readonly required: boolean
  readonly span: Span
}

export const logicalTypes = [
  'string',
  'date',
  'timestamp',
  'time',
  'number',
  'integer',
  'object',
  'array',
  'boolean',
] as const
export type LogicalType = (typeof logicalTypes)[number]
