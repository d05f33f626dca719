// A literal of the URL grammar as syntax: its form, and its text without quotes and prefix.

import type * as ohm from 'ohm-js'
import { ENCODED_SEMICOLON } from './search.grammar.ts'
import type { ExpressionSyntax, LiteralForm, LiteralSyntax } from './syntax.ts'

/** null, NaN and INF are case-sensitive. */
export function wordLiteral(text: string, at: number): LiteralSyntax | null {
  if (text === 'null') return { kind: 'literal', form: 'null', text, at }
  if (/^(?:true|false)$/i.test(text))
    return { kind: 'literal', form: 'boolean', text: text.toLowerCase(), at }
  return /^(?:NaN|-?INF)$/.test(text) ? { kind: 'literal', form: 'number', text, at } : null
}

/** A literal or a path of names: the characters at its beginning tell which. */
export function tokenSyntax(token: ohm.Node): ExpressionSyntax {
  const text = token.sourceString
  const at = token.source.startIdx
  if (text.startsWith("'")) return { kind: 'literal', form: 'string', text: unquote(text), at }
  const { form } = forms.find(({ begins }) => begins.test(text)) ?? {}
  if (form !== undefined) return { kind: 'literal', form, text, at }
  return wordLiteral(text, at) ?? { kind: 'path', names: text.split('/'), keys: NO_KEYS, at }
}

/** The first that fits. */
const forms: readonly { readonly form: LiteralForm; readonly begins: RegExp }[] = [
  { form: 'guid', begins: /^[\da-f]{8}-[\da-f]{4}-/i },
  { form: 'date-time', begins: /^-?\d{4,}-\d\d-\d\dT/i },
  { form: 'date', begins: /^-?\d{4,}-/ },
  { form: 'time-of-day', begins: /^\d\d:/ },
  { form: 'number', begins: /^[-+]?\d/ },
]

const NO_KEYS = new Map<number, never>()

const formOfPrefix: Readonly<Record<string, LiteralForm>> = {
  duration: 'duration',
  binary: 'binary',
  geography: 'geo',
  geometry: 'geo',
}

export function prefixedSyntax(token: ohm.Node): LiteralSyntax {
  const text = token.sourceString
  const quote = text.indexOf("'")
  const form = formOfPrefix[text.slice(0, quote).toLowerCase()] ?? 'enum'
  return { kind: 'literal', form, text: unquote(text.slice(quote)), at: token.source.startIdx }
}

const unquote = (text: string) =>
  text.slice(1, -1).replaceAll("''", "'").replaceAll(ENCODED_SEMICOLON, ';')
