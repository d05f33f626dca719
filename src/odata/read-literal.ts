// A literal of the URL grammar as syntax: its form, and its text without quotes and prefix.

import type * as ohm from 'ohm-js'
import type { ExpressionSyntax, LiteralForm } from './syntax.ts'

type LiteralSyntax = ExpressionSyntax & { readonly kind: 'literal' }

/** Letter case matters in null, NaN and INF. */
export function wordLiteral(text: string, at: number): LiteralSyntax | null {
  if (text === 'null') return { kind: 'literal', form: 'null', text, at }
  if (/^(?:true|false)$/i.test(text))
    return { kind: 'literal', form: 'boolean', text: text.toLowerCase(), at }
  return /^(?:NaN|-?INF)$/.test(text) ? { kind: 'literal', form: 'number', text, at } : null
}

const formOfRule: Readonly<Record<string, LiteralForm>> = {
  number: 'number',
  date: 'date',
  dateTime: 'date-time',
  timeOfDay: 'time-of-day',
  guid: 'guid',
}

const formOfPrefix: Readonly<Record<string, LiteralForm>> = {
  duration: 'duration',
  binary: 'binary',
  geography: 'geo',
  geometry: 'geo',
}

export function literalSyntax(literal: ohm.Node): LiteralSyntax {
  const text = literal.sourceString
  const make = (form: LiteralForm, value = text) =>
    ({ kind: 'literal', form, text: value, at: literal.source.startIdx }) as const
  switch (literal.ctorName) {
    case 'string':
      return make('string', unquote(text))
    case 'keyword':
      return wordLiteral(text, literal.source.startIdx)!
    case 'prefixed': {
      const quote = text.indexOf("'")
      const form = formOfPrefix[text.slice(0, quote).toLowerCase()] ?? 'enum'
      return make(form, unquote(text.slice(quote)))
    }
    case 'temporal':
      return make(formOfRule[literal.child(1).ctorName]!)
    default:
      return make(formOfRule[literal.ctorName]!)
  }
}

const unquote = (text: string) => text.slice(1, -1).replaceAll("''", "'")
