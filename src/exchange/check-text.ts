// Checks as they are written after @check: in one line, and as what they demand, by which two of them are compared.

import { readValue } from '../compiler/annotations/read-annotation.ts'
import { tokenize } from '../compiler/sql/tokens.ts'
import { foldCase } from '../core/names.ts'

/** null: a text in it goes on in the next line, or a comment, which would swallow what follows. */
export function inOneLine(text: string): string | null {
  const tokens = tokenize(text)
  if (tokens.some(({ kind }) => kind === 'open')) return null
  if (isLine(text)) return text.trim()
  if (tokens.some((token) => token.kind === 'comment' || !isLine(token.text))) return null
  let found = ''
  for (const [i, token] of tokens.entries())
    found += (i > 0 && tokens[i - 1]!.end < token.start ? ' ' : '') + token.text
  return found
}

const isLine = (text: string) => !/[^\P{Cc}\t]/u.test(text)

export const hasComment = (text: string): boolean =>
  tokenize(text).some(({ kind }) => kind === 'comment' || kind === 'open')

/** The same for texts that differ in spaces, comments and the case of words only. */
export const plainSql = (text: string): string =>
  tokenize(text)
    .filter(({ kind }) => kind !== 'comment')
    .map((token) => (token.kind === 'word' ? foldCase(token.text) : token.text))
    .join(' ')

/**
 * What a check demands, in parts: equal parts are the same demand. Of several columns that must not be NULL each is a
 * part, unless some rows may be.
 */
export function demandsOf(text: string): readonly string[] {
  const read = readValue('check', text, 0)
  if ('failedAt' in read) return [plainSql(text)]
  const { value } = read
  const { where, upTo } = value
  const part = (...what: readonly unknown[]) =>
    JSON.stringify([
      ...what,
      where === undefined ? null : plainSql(text.slice(where.start, where.end)),
      upTo === undefined ? null : [upTo.most, upTo.unit],
    ])
  switch (value.is) {
    case 'not_null':
    case 'unique': {
      const names = [...new Set(value.columns.map(({ name }) => foldCase(name)))].toSorted()
      const isMany = value.is === 'not_null' && upTo === undefined
      return isMany ? names.map((name) => part(value.is, [name])) : [part(value.is, names)]
    }
    case 'accepted': {
      const values = [...new Set(value.values.map(String))].toSorted()
      return [part('accepted', foldCase(value.column.name), values)]
    }
    case 'references': {
      const names = [value.column.name, value.model.name, value.target.name]
      return [part('references', ...names.map(foldCase))]
    }
    case 'row_count':
      return [part('row_count', value.comparison, value.rows)]
    case 'condition':
      return [part('condition', plainSql(text.slice(0, text.length - (upTo?.length ?? 0))))]
  }
}
