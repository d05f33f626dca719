// Messages for incompatible types. Most often a value is quoted that should not be.

import { type Expression, typeOf } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import { isNumberType } from '../../edm/numbers.ts'
import type { ComparisonOperator } from '../../syntax/syntax.ts'
import type { EdmType } from '../../edm/types.ts'

export function cannotCompare(operator: ComparisonOperator, left: Expression, right: Expression) {
  const [leftType, rightType] = [typeOf(left), typeOf(right)]
  const words = `cannot compare ${leftType?.name} with ${rightType?.name} by ${operator}`
  return odataError(
    'type-mismatch',
    quotedValue(left, right) ?? quotesMissing(left, right) ?? words,
  )
}

interface PlainValue {
  readonly words: string
  /** What the text means without quotes; null when it means nothing of the type. */
  readonly today: (text: string) => string | null
  readonly example: string
}

const when =
  (pattern: RegExp, show = (text: string) => text) =>
  (text: string) =>
    pattern.test(text) ? show(text) : null

const DAY = String.raw`^\d{4}-\d\d-\d\d`
const NUMBER: PlainValue = { words: 'a number', today: when(/^-?\d+(\.\d+)?$/), example: '5' }

const unquotedOf: Readonly<Record<string, PlainValue>> = {
  'Edm.DateTimeOffset': {
    words: 'a time',
    today: when(new RegExp(`${DAY}(?:$|[T ])`), (text) => {
      const [day = '', clock = '00:00:00Z'] = text.split(/[T ]/)
      return `${day}T${clock}${/z$|[-+]\d\d:\d\d$/i.test(clock) ? '' : 'Z'}`
    }),
    example: '2026-01-01T00:00:00Z',
  },
  'Edm.Date': { words: 'a date', today: when(new RegExp(`${DAY}$`)), example: '2026-01-01' },
  'Edm.TimeOfDay': { words: 'a time of day', today: when(/^\d\d:\d\d/), example: '10:30:00' },
  'Edm.Guid': {
    words: 'a GUID',
    today: when(/^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i),
    example: '01234567-89ab-cdef-0123-456789abcdef',
  },
  'Edm.Boolean': {
    words: 'true or false',
    today: when(/^(?:true|false)$/i, (text) => text.toLowerCase()),
    example: 'true',
  },
}

const unquoted = (type: EdmType) => (isNumberType(type) ? NUMBER : unquotedOf[type.name])

/** `amount gt '5'` */
function quotedValue(left: Expression, right: Expression): string | null {
  const type = typeOf(left)
  if (left.kind !== 'property' || right.kind !== 'constant' || type === null) return null
  const expected = right.type.name === 'Edm.String' ? unquoted(type) : undefined
  if (expected === undefined) return null
  const today = expected.today(right.value)
  const value = today === null ? `, such as ${expected.example}` : `: ${today}`
  return `${left.property.name} is ${expected.words}; write it without quotes${value}`
}

/** `status eq 5` */
function quotesMissing(left: Expression, right: Expression): string | null {
  if (left.kind !== 'property' || right.kind !== 'constant') return null
  if (left.type.name !== 'Edm.String' || right.type.name === 'Edm.String') return null
  return `${left.property.name} is text; write '${right.value.slice(0, 60)}' in single quotes`
}
