// Comments that look like annotations and are not read as such. Passing over them in silence would build a model of
// another kind than its author asked for.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import type { SourceFile } from '../../core/source-text.ts'
import type { Token } from '../sql/tokens.ts'
import { readValue } from './read-annotation.ts'
import { annotations, type AnnotationName, fileKinds } from './annotations.ts'

const names = Object.keys(annotations).join('|')
/** At the start of a comment or of one of its lines. */
const AT_LINE_START = new RegExp(`(?:^|\\n)[ \\t/*-]*(@(?:${names})\\b[^\\n]*)`, 'gi')
const WITHOUT_SIGN = new RegExp(
  `^--[ \\t]*((${names})\\b(?:[ \\t]*([:=])[ \\t]*|[ \\t]+|$)(.*?))\\s*$`,
  'i',
)
const WITHIN_TEXT = new RegExp(
  `^--[ \\t]*@(description|owner|column)\\b.*?[ \\t](@(?:${names})[ \\t]*:.*)`,
  'i',
)
/** Their values are text, so the comment lines below one of them may be meant to continue it. */
const WITH_TEXT = /^--[ \t]*@(description|column|owner)\b/i

/** Names whose value tells an annotation from a sentence even where no colon stands between the two. */
const UNMISTAKABLE: ReadonlySet<string> = new Set<AnnotationName>([
  'kind',
  'unique_key',
  'on_duplicate',
  'deletes',
  'valid_from',
  'on_schema_change',
  'renamed_from',
  'expose',
])

/** `header`: comments above the first token of the body; `below`: all others. */
export function ignoredAnnotations(
  source: SourceFile,
  header: readonly Token[],
  below: readonly Token[],
): readonly Diagnostic[] {
  return [
    ...header.flatMap((comment, i) => inHeader(source, comment, header[i - 1])),
    ...inBody(source, below),
  ]
}

function inHeader(
  source: SourceFile,
  comment: Token,
  before: Token | undefined,
): readonly Diagnostic[] {
  const { text, start } = comment
  const isBlock = text.startsWith('/*')
  if (isBlock || /^---+[ \t]*@/.test(text)) return lookalikes(source, comment, isBlock)
  const [, swallowing = '', swallowed = ''] = WITHIN_TEXT.exec(text) ?? []
  if (swallowed !== '') {
    const at = start + text.indexOf(swallowed)
    const place = { source, span: { start: at, end: at + swallowed.length } }
    const problem = `this is part of the text of @${swallowing.toLowerCase()}`
    return [warning(problem, `write it on its own line: -- ${swallowed}`, place)]
  }
  if (/^--[ \t]*@/.test(text)) return []
  const meant = withoutSign(text)
  if (meant !== null) {
    const problem = `"${text.trimEnd()}" is a plain comment`
    return [warning(problem, `did you mean "-- ${meant}"?`, { source, span: comment })]
  }
  return before === undefined ? [] : continuation(source, comment, before)
}

function lookalikes(source: SourceFile, comment: Token, isBlock: boolean): readonly Diagnostic[] {
  const found = [...comment.text.matchAll(AT_LINE_START)].map(([, written = '']) => written)
  const [first] = found
  if (first === undefined) return []
  const start = comment.start + comment.text.indexOf(first)
  const place = { source, span: { start, end: start + nameIn(first).length } }
  const line = `-- ${first.replace(/\s*(?:\*\/.*)?$/, '')}`
  const problem = isBlock
    ? `annotations in a block comment are ignored: ${found.map(nameIn).join(', ')}`
    : `"${comment.text.trimEnd()}" is a plain comment`
  const hint = isBlock ? `write each one on its own line: ${line}` : `did you mean "${line}"?`
  return [warning(problem, hint, place)]
}

/** One warning for a file: where one annotation stands below the SQL, all of them mostly do. */
function inBody(source: SourceFile, comments: readonly Token[]): readonly Diagnostic[] {
  const found = comments.flatMap(({ text, start }) =>
    [...text.matchAll(AT_LINE_START)].map(([, written = '']) => ({
      name: nameIn(written),
      at: start + text.indexOf(written),
    })),
  )
  const [first] = found
  if (first === undefined) return []
  const place = { source, span: { start: first.at, end: first.at + first.name.length } }
  const problem = `annotations below the SQL are ignored: ${found.map(({ name }) => name).join(', ')}`
  const hint = `move ${found.length === 1 ? 'it' : 'them'} to the top of the file`
  return [warning(problem, hint, place)]
}

/** The annotation that the author of `-- kind: view` meant, from its sign on; null where it is a sentence. */
function withoutSign(text: string): string | null {
  const [, , name = '', sign = '', value = ''] = WITHOUT_SIGN.exec(text) ?? []
  const known = name.toLowerCase() as AnnotationName
  if (name === '' || (sign === '' && !UNMISTAKABLE.has(known))) return null
  if ('failedAt' in readValue(annotations[known].value, value, 0)) return null
  if (known === 'kind' && !fileKinds.some((kind) => kind === value.toLowerCase())) return null
  // A sentence is a condition for all that the grammar knows.
  if ((known === 'check' || known === 'warn') && !/[<>=(]/.test(value)) return null
  return `@${known}${value === '' ? '' : `: ${value}`}`
}

/** A text is one line; the line below it that goes on with it would be lost. */
function continuation(source: SourceFile, comment: Token, before: Token): readonly Diagnostic[] {
  const [, name = ''] = WITH_TEXT.exec(before.text) ?? []
  const between = source.text.slice(before.end, comment.start)
  const isNextLine = between.split('\n').length === 2
  if (name === '' || !isNextLine || !/\p{L}/u.test(comment.text)) return []
  const problem = `@${name.toLowerCase()} ends on the line above; this line is a plain comment`
  const hint = 'put the whole text on one line, or leave a blank line between the two'
  return [warning(problem, hint, { source, span: comment })]
}

const nameIn = (written: string) => /^@\w+/.exec(written)?.[0] ?? ''

const warning = (problem: string, hint: string, place: Parameters<typeof diagnostic>[2]) =>
  diagnostic('ignored-annotation', { problem }, place, hint)
