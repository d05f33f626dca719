// Values of settings as JSON Schema, draft 7, which editors know best.

import { extensionSpellings } from '../../../src/core/extensions.ts'
import type { SettingType } from '../../../src/project/settings.ts'
import { SIZE } from '../../../src/project/values.ts'

export interface JsonSchema {
  readonly [keyword: string]: unknown
}

/** With what an editor says of it. */
export const described = (description: string, schema: JsonSchema): JsonSchema => ({
  description,
  ...schema,
})

/** A key without a value counts as absent, so null is allowed everywhere. */
export const text: JsonSchema = { type: ['string', 'null'], minLength: 1 }
/** Without flags, which JSON Schema does not have. */
export const matching = ({ source }: RegExp): JsonSchema => ({
  type: ['string', 'null'],
  pattern: source,
})
export const oneOf = (values: readonly string[]): JsonSchema => ({ enum: [...values, null] })
export const texts: JsonSchema = { type: ['array', 'null'], items: { type: 'string' } }

/** A group whose members are all known. */
export const group = (
  properties: Readonly<Record<string, JsonSchema>>,
  more: JsonSchema = {},
): JsonSchema => ({ type: ['object', 'null'], properties, additionalProperties: false, ...more })

/** A group whose members are named by the author. */
export const named = (name: RegExp, member: JsonSchema): JsonSchema => ({
  type: ['object', 'null'],
  patternProperties: { [name.source]: member },
  additionalProperties: false,
})

export function schemaOfType(type: SettingType): JsonSchema {
  switch (type.is) {
    case 'text':
    case 'bearer':
      return text
    case 'size':
      return matching(SIZE)
    case 'boolean':
      return { type: ['boolean', 'null'] }
    case 'choice':
      return oneOf(type.of)
    case 'secret':
      return { type: 'null' }
    case 'catalog':
      return matching(/^postgres(ql)?:\/\/|\$\{/)
    case 'store':
      return matching(/^s3:\/\/|\$\{/)
    case 'endpoint':
    case 'web':
      return matching(/^https?:\/\/|\$\{/)
    case 'list':
      return texts
    case 'extensions':
      return { type: ['array', 'null'], items: { enum: extensionSpellings } }
    case 'number-or-auto':
      return {
        anyOf: [{ const: 'auto' }, { type: ['integer', 'null'], minimum: 1, maximum: type.max }],
      }
    case 'integer': {
      const isBounded = type.max !== Number.MAX_SAFE_INTEGER
      const range = isBounded ? { minimum: type.min, maximum: type.max } : { minimum: type.min }
      return { type: ['integer', 'null'], ...range }
    }
  }
}
