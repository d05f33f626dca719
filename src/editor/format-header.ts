// The head of a model or of a file of checks/ in the house's form: one annotation a line, in the order of the table of
// annotations, `-- @name: value`, one blank line before the SQL. Everything else keeps its bytes: the SQL, and comments.

import { type AnnotationName, annotations } from '../compiler/annotations/annotations.ts'
import { readParts, readValue } from '../compiler/annotations/read-annotation.ts'
import { statementsOf } from '../compiler/sql/tokens.ts'

/** Written without a colon, as in `-- @expose id`. */
const WITHOUT_COLON: ReadonlySet<AnnotationName> = new Set(['expose', 'column', 'contract'])
/** Lists of names: `a, b`. */
const LISTS: ReadonlySet<AnnotationName> = new Set(['unique_key', 'expose', 'tags', 'depends_on'])
/** `@check` and `@warn` keep the order that they are written in: they are asked in it. */
const order = (Object.keys(annotations) as AnnotationName[]).filter((name) => name !== 'warn')
const rank = (name: AnnotationName) => order.indexOf(name === 'warn' ? 'check' : name)

interface Line {
  readonly text: string
  /** null: a comment, or an annotation that is not understood. */
  readonly name: AnnotationName | null
}

/** The same text where there is nothing to change, and where the head is not only lines of comments. */
export function formatHeader(text: string): string {
  const { header, statements } = statementsOf({ path: '', text })
  const [statement] = statements
  const bodyStart = statement?.[0].start ?? text.length
  const head = text.slice(0, bodyStart)
  if (header.some((comment) => comment.text.startsWith('/*'))) return text
  const newline = head.includes('\r\n') ? '\r\n' : '\n'
  const lines = head.split(/\r?\n/).map(readLine)
  // What stands in the line of the SQL itself, such as blanks before it.
  const last = statement === undefined ? readLine('') : lines.pop()!
  const first = lines.findIndex(({ name }) => name !== null)
  const end = lines.findLastIndex(({ name }) => name !== null) + 1
  if (first === -1 || /\S/.test(last.text)) return text
  const after = lines.slice(end).map((line) => line.text)
  const block = inOrder(
    lines.slice(first, end),
    after.every((line) => line.trim() === ''),
  )
  while (after.at(-1)?.trim() === '') after.pop()
  while (after.length > 0 && after[0]!.trim() === '') after.shift()
  const written = [
    ...lines.slice(0, first).map((line) => line.text),
    ...block,
    ...(after.length === 0 ? [] : [...gapBefore(lines[end]), ...after]),
    ...(statement === undefined ? [] : ['']),
  ]
  return written.map((line) => line + newline).join('') + last.text + text.slice(bodyStart)
}

/** A comment that stood apart from the annotations still does. */
const gapBefore = (next: Line | undefined) => (next?.text.trim() === '' ? [''] : [])

/** A comment among annotations, or below them, may be about one of them: then each stays where it is. */
function inOrder(lines: readonly Line[], isAlone: boolean): readonly string[] {
  const isMixed = lines.some(({ name, text }) => name === null && text.trim() !== '')
  if (isMixed || !isAlone) return lines.map(({ text }) => text)
  return lines
    .filter(({ name }) => name !== null)
    .toSorted((a, b) => rank(a.name!) - rank(b.name!))
    .map(({ text }) => text)
}

function readLine(line: string): Line {
  const found = /^\uFEFF?[ \t]*--[ \t]*(@.*?)\s*$/.exec(line)?.[1]
  const parts = found === undefined ? null : readParts(found)
  const name = parts === null || 'failedAt' in parts ? '' : parts.name.toLowerCase()
  if (parts === null || 'failedAt' in parts || !isAnnotation(name))
    return { text: line, name: null }
  const value = LISTS.has(name) ? listOf(parts.value) : parts.value.trim()
  const rule = annotations[name].value
  // What is not understood is for its author to mend.
  if ('failedAt' in readValue(rule, value, 0)) return { text: line, name: null }
  const mark = line.startsWith('\uFEFF') ? '\uFEFF' : ''
  const colon = WITHOUT_COLON.has(name) || value === '' ? '' : ':'
  return { text: `${mark}-- @${name}${colon}${value === '' ? '' : ` ${value}`}`, name }
}

/** Names in quotes may hold anything. */
const listOf = (value: string) =>
  value.includes('"') ? value.trim() : value.trim().replaceAll(/[ \t]*,[ \t]*/g, ', ')

const isAnnotation = (name: string): name is AnnotationName => Object.hasOwn(annotations, name)
