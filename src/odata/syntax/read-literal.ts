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

/** A number, a string, or a path of names: its first character tells which. */
export function tokenSyntax(token: ohm.Node): ExpressionSyntax {
  const text = token.sourceString
  const at = token.source.startIdx
  if (text.startsWith("'")) return { kind: 'literal', form: 'string', text: unquote(text), at }
  if (/^[-+]?[0-9]/.test(text)) return { kind: 'literal', form: 'number', text, at }
  return wordLiteral(text, at) ?? { kind: 'path', names: text.split('/'), keys: NO_KEYS, at }
}

const NO_KEYS = new Map<number, never>()

const formOfPrefix: Readonly<Record<string, LiteralForm>> = {
  duration: 'duration',
  binary: 'binary',
  geography: 'geo',
  geometry: 'geo',
}

export const literalSyntax = (form: LiteralForm, token: ohm.Node): LiteralSyntax => ({
  kind: 'literal',
  form,
  text: token.sourceString,
  at: token.source.startIdx,
})

export function prefixedSyntax(token: ohm.Node): LiteralSyntax {
  const text = token.sourceString
  const quote = text.indexOf("'")
  const form = formOfPrefix[text.slice(0, quote).toLowerCase()] ?? 'enum'
  return { kind: 'literal', form, text: unquote(text.slice(quote)), at: token.source.startIdx }
}

const unquote = (text: string) =>
  text.slice(1, -1).replaceAll("''", "'").replaceAll(ENCODED_SEMICOLON, ';')
