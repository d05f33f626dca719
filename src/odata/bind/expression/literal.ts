// A literal as a constant of the narrowest type that its form allows. Meeting a property, it takes that one's type.

import type { Constant, Expression } from '../bound.ts'
import { odataError } from '../../protocol/errors.ts'
import {
  binaryHex,
  dateTimeValue,
  dateValue,
  durationMicroseconds,
  exactNumber,
  printExact,
  timeValue,
  toDouble,
} from '../../edm/literals.ts'
import { isExact, literalType } from '../../edm/numbers.ts'
import type { LiteralSyntax } from '../../syntax/syntax.ts'
import { edm, type EdmType } from '../../edm/types.ts'
import { durationConstant } from './constants.ts'

export function bindLiteral({ form, text }: LiteralSyntax): Expression {
  switch (form) {
    case 'null':
      return { kind: 'null' }
    case 'boolean':
      return constant(edm.Boolean, text)
    case 'number':
      return bindNumber(text)
    case 'string':
      return constant(edm.String, text)
    case 'date':
      return constant(edm.Date, dateValue(text))
    case 'date-time':
      return constant(edm.DateTimeOffset, dateTimeValue(text))
    case 'time-of-day':
      return constant(edm.TimeOfDay, timeValue(text))
    case 'guid':
      return constant(edm.Guid, text)
    case 'duration': {
      const microseconds = durationMicroseconds(text)
      if (microseconds === null) throw invalid(text, 'a duration such as P1DT2H')
      return durationConstant(microseconds)
    }
    case 'binary': {
      const hex = binaryHex(text)
      if (hex === null) throw invalid(text, 'base64url text')
      return constant(edm.Binary, hex)
    }
    case 'enum':
      // The prefix names a type that this service shows as String or as an integer.
      return constant(edm.String, text)
    case 'geo':
      throw odataError('not-supported', 'geo literals are not supported')
  }
}

/** Digits that a double would lose are preserved: compared with a Decimal, they count. */
function bindNumber(text: string): Constant {
  const type = literalType(text)
  const number = isExact(type) ? exactNumber(text) : null
  if (number !== null) return constant(type, printExact(number))
  const isWord = /[A-Z]{3}/.test(text)
  return constant(type, isWord ? String(toDouble(text)) : text)
}

const constant = (type: EdmType, value: string): Constant => ({ kind: 'constant', type, value })

const invalid = (text: string, expected: string) =>
  odataError('invalid-value', `"${text.slice(0, 60)}" is not ${expected}`)
