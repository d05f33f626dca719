// Quick fixes: what a hint says to write, as an edit.

import type { Diagnostic } from '../core/diagnostics.ts'
import type { Span } from '../core/source-text.ts'
import { lineSpan } from './positions.ts'

/** Their hints are whole lines in place of the one that is wrong. */
const REPLACES: ReadonlySet<string> = new Set([
  'annotation-syntax',
  'expose-not-unique',
  'exposed-without-key',
])

interface Fix {
  readonly title: string
  readonly span: Span
  readonly text: string
}

/** null: the hint says nothing that can be typed for the author. */
export function fixOf({ code, hint = '', source, span }: Diagnostic): Fix | null {
  const { text } = source
  const written = text.slice(span.start, span.end)
  const [, meant] = /^did you mean "([^"]+)"\?/.exec(hint) ?? []
  if (meant !== undefined) return meantFix(text, span, meant)
  const start = lineSpan(text, span.start).start
  const [, instead] = /^write (-- @.+)$/.exec(hint) ?? []
  if (instead !== undefined && REPLACES.has(code) && text.startsWith('--', start))
    return { title: `Write ${instead}`, span: { start, end: lineEnd(text, start) }, text: instead }
  const [, more] = /^add a line such as (-- @.+)$/.exec(hint) ?? []
  if (more !== undefined) {
    const end = lineSpan(text, span.start).end
    return { title: `Add ${more}`, span: { start: end, end }, text: `${more}\n` }
  }
  const [, bare] = /^(?:leave the quotes out|put it in quotes): (.+)$/.exec(hint) ?? []
  if (bare !== undefined) return { title: `Write ${bare}`, span, text: bare }
  const [, pair] = /^a space is missing after the colon: (.+)$/.exec(hint) ?? []
  const glued = pair?.replace(': ', ':')
  const at = glued === undefined ? -1 : text.indexOf(glued, lineSpan(text, span.start).start)
  if (pair !== undefined && at !== -1)
    return { title: `Write ${pair}`, span: { start: at, end: at + glued!.length }, text: pair }
  if (code === 'duplicate-annotation' && written.startsWith('@'))
    return { title: 'Delete this line', span: lineSpan(text, span.start), text: '' }
  return null
}

/** The place may have more than the misspelt word: an alias before it, quotes around it. */
function meantFix(text: string, span: Span, meant: string): Fix | null {
  const written = text.slice(span.start, span.end)
  if (written === '' || /\s/.test(written.trim())) return null
  const title = `Change to ${meant}`
  if (/^["'@]|^[\w-]+$/.test(written)) {
    const quote = /^(["'])[^]*\1$/.exec(written)?.[1] ?? ''
    return { title, span, text: meant.startsWith('@') ? meant : `${quote}${meant}${quote}` }
  }
  const parts = written.split('.')
  const kept = parts.slice(0, Math.max(0, parts.length - meant.split('.').length))
  return { title, span, text: [...kept, meant].join('.') }
}

const lineEnd = (text: string, start: number) => {
  const { end } = lineSpan(text, start)
  return text.charAt(end - 1) === '\n' ? end - (text.charAt(end - 2) === '\r' ? 2 : 1) : end
}
