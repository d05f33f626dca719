// Jinja in a model: what dbt would replace before the database sees it, each with what to write in plain SQL.

import { sameName } from '../../core/names.ts'
import type { Span } from '../../core/source.ts'
import { nearest } from '../../core/suggest.ts'
import { isSymbol, type Token } from '../sql/tokens.ts'

interface Template {
  readonly span: Span
  readonly hint: string
}

/** The first of each sort, so that a file is not covered with them. `readable`: names of what a model may read. */
export function templatesIn(
  text: string,
  tokens: readonly Token[],
  readable: readonly string[],
): readonly Template[] {
  const found = new Map<string, Template>()
  let end = 0
  for (const [i, token] of tokens.entries()) {
    const next = tokens[i + 1]
    const isOpen =
      isSymbol(token, '{') && next?.start === token.end && '{%#'.includes(next.text[0]!)
    if (!isOpen || token.start < end) continue
    const close = text.indexOf({ '{': '}}', '%': '%}', '#': '#}' }[next.text[0]!]!, token.end)
    end = close < 0 ? text.length : close + 2
    const inside = text
      .slice(token.end + 1, close < 0 ? undefined : close)
      .replace(/^[-+]/, '')
      .trim()
    if (/^(?:else|elif|endif|endfor|endset)\b/.test(inside)) continue
    const { sort, hint } = meaningOf(inside, readable)
    if (!found.has(sort)) found.set(sort, { span: { start: token.start, end }, hint })
  }
  return [...found.values()]
}

function meaningOf(
  inside: string,
  readable: readonly string[],
): { readonly sort: string; readonly hint: string } {
  const [, word = ''] = /^(\w+)/.exec(inside) ?? []
  const [, first = '', second = ''] =
    /\(\s*['"]([^'"]*)['"](?:\s*,\s*['"]([^'"]*)['"])?/.exec(inside) ?? []
  switch (word) {
    case 'ref':
      return {
        sort: word,
        hint: modelHint(second || first, readable),
      }
    case 'source':
      return { sort: word, hint: `write the name of the table: FROM ${first}.${second}` }
    case 'config':
      return { sort: word, hint: configHint(inside) }
    case 'var':
      return { sort: word, hint: `write \${${first}}, and declare it under vars in eider.yml` }
    case 'this':
      return {
        sort: word,
        hint: 'a model does not read itself; @incremental says which rows are new',
      }
    case 'if':
      return inside.includes('is_incremental')
        ? {
            sort: 'is_incremental',
            hint: 'leave the condition out; @incremental says which rows are new',
          }
        : { sort: 'block', hint: 'write it as CASE WHEN, or out in full' }
    case 'for':
    case 'set':
      return { sort: 'block', hint: 'write it out in full, or use COLUMNS(…), PIVOT or a macro' }
    default:
      return { sort: 'macro', hint: 'write plain SQL; a macro is CREATE MACRO in macros/*.sql' }
  }
}

function configHint(inside: string): string {
  const [, kind = 'table'] = /materialized\s*=\s*['"](\w+)['"]/.exec(inside) ?? []
  if (kind === 'incremental') return 'write -- @kind: append or -- @kind: merge above the SELECT'
  return `write -- @kind: ${kind === 'view' || kind === 'ephemeral' ? 'view' : 'table'} above the SELECT`
}

/** dbt has names without schemas. */
function modelHint(name: string, readable: readonly string[]): string {
  const tableOf = (whole: string) => whole.slice(whole.indexOf('.') + 1)
  const meant = nearest(name, readable.map(tableOf)) ?? name
  const models = readable.filter((whole) => sameName(tableOf(whole), meant))
  if (models.length > 1) return `write the name of the model, one of ${models.join(', ')}`
  return `write the name of the model: FROM ${models[0] ?? `schema.${name}`}`
}
