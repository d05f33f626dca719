// What is wrong with the YAML of a file, in words, at the place that its author has to change.

import { type Document, isAlias, isScalar, parseDocument, visit } from 'yaml'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { limits } from '../core/limits.ts'
import {
  CONFLICT_HINT,
  conflictMarker,
  positionOf,
  type SourceFile,
  type Span,
} from '../core/source-text.ts'

/** Throws nothing: what is too much for the parser is a problem of an empty document. */
export function parseYaml(source: SourceFile): {
  readonly document: Document.Parsed
  readonly problems: readonly Diagnostic[]
} {
  const found = tooMuch(source.text)
  // The parser compares each key with all before it; duplicateKeys() does not.
  const options = { prettyErrors: false, uniqueKeys: false }
  const document = parseDocument(found === null ? source.text : '', options)
  if (found === null) return { document, problems: yamlProblems(source, document) }
  const { problem, at } = found
  const place = { source, span: { start: at, end: at } }
  return { document, problems: [diagnostic('config-syntax', { problem }, place)] }
}

function tooMuch(text: string): { readonly problem: string; readonly at: number } | null {
  const deepAt = tooDeepAt(text)
  if (deepAt !== null)
    return { problem: `groups and lists are more than ${limits.yamlDepth} deep`, at: deepAt }
  let anchors = 0
  for (const { index } of text.matchAll(ANCHOR))
    if (++anchors > limits.yamlAnchors)
      return {
        problem: `there are more than ${limits.yamlAnchors} anchors and aliases`,
        at: index + 1,
      }
  return null
}

/** `&name` and `*name` where a value begins. */
const ANCHOR = /[\s,[{][&*][^\s,[\]{}*&]/g

interface YamlError {
  readonly code: string
  readonly message: string
  readonly pos: readonly [number, number]
}

function duplicateKeys(document: Document.Parsed): readonly YamlError[] {
  const errors: YamlError[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<unknown>()
      for (const { key } of map.items) {
        if (!isScalar(key)) continue
        const [start = 0, end = 0] = key.range ?? []
        if (seen.has(key.value))
          errors.push({
            code: 'DUPLICATE_KEY',
            message: 'Map keys must be unique',
            pos: [start, end],
          })
        seen.add(key.value)
      }
    },
  })
  return errors
}

/** What fails wherever the value is used, or ends a path too early. */
function valueErrors(document: Document.Parsed): readonly YamlError[] {
  const errors: YamlError[] = []
  const anchors = new Set<string>()
  const aliases: YamlError['pos'][] = []
  visit(document, {
    Node(_, node) {
      const [start = 0, end = 0] = node.range ?? []
      const refuse = (code: string, message: string) =>
        errors.push({ code, message, pos: [start, end] })
      if (isAlias(node)) {
        aliases.push([start, end])
        if (!anchors.has(node.source))
          refuse('NO_ANCHOR', `nothing before this is marked as &${node.source}`)
      } else if (node.anchor !== undefined) anchors.add(node.anchor)
      if (isScalar(node) && typeof node.value === 'string' && node.value.includes('\0'))
        refuse('NUL', 'a string must not contain a NUL')
    },
  })
  const [pos] = aliases
  if (pos === undefined || errors.length > 0) return errors
  try {
    document.toJS()
    return []
  } catch {
    // The parser counts what aliases stand for, and stops in time.
    return [{ code: 'ALIASES', message: 'what the aliases stand for is too much', pos }]
  }
}

/**
 * Where the text is too deep, if it is: by brackets that are not closed, by the markers of one line and by its
 * indentation. Nobody writes as many of them in a text either.
 */
function tooDeepAt(text: string): number | null {
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === OPEN_BRACKET || code === OPEN_BRACE) depth++
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth = Math.max(0, depth - 1)
    if (depth > limits.yamlDepth) return at
  }
  const markers = TOO_DEEP.exec(text)
  return markers === null ? null : markers.index
}

const [OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = [0x5b, 0x5d, 0x7b, 0x7d]
/** Each level of groups is indented by one column at least. */
const TOO_DEEP = new RegExp(
  `(?:[-?:][ \\t]+){${limits.yamlDepth}}|^ {${limits.yamlDepth * 8}}`,
  'm',
)

function yamlProblems(source: SourceFile, document: Document.Parsed): readonly Diagnostic[] {
  const marker = conflictMarker(source.text)
  if (marker !== null)
    return [diagnostic('merge-conflict', {}, { source, span: marker }, CONFLICT_HINT)]
  const errors: readonly YamlError[] = [
    ...document.errors,
    ...duplicateKeys(document),
    ...valueErrors(document),
  ]
  const inOrder = withoutEchoes(errors.toSorted((a, b) => a.pos[0] - b.pos[0]))
  return inOrder.map(({ code, message, pos: [start, end] }) => {
    const { problem, hint, span = { start, end } } = wordsFor(source.text, code, message, start)
    return diagnostic('config-syntax', { problem }, { source, span }, hint)
  })
}

/** A key that is indented too deep is told of twice. */
const withoutEchoes = (errors: readonly YamlError[]) =>
  errors.filter(({ code }, i) => {
    const isEcho = code === 'MULTILINE_IMPLICIT_KEY'
    return !isEcho || errors[i - 1]?.code !== 'BLOCK_AS_IMPLICIT_KEY'
  })

/** `name:value` is one word to YAML, not a pair. */
export function blankHint(text: string, { start, end }: Span): string | undefined {
  const [, key, value] = /^([\w.-]+):([^\s/].*)$/m.exec(text.slice(start, end)) ?? []
  return key === undefined ? undefined : `a space is missing after the colon: ${key}: ${value}`
}

interface Words {
  readonly problem: string
  readonly hint?: string | undefined
  readonly span?: Span
}

function wordsFor(text: string, code: string, message: string, at: number): Words {
  // Within brackets YAML takes the brace for the beginning of a group.
  if (text.startsWith('${', at - 1))
    return { problem: message, hint: 'within [ ] and { } a variable is in quotes: "${NAME}"' }
  switch (code) {
    case 'MULTIPLE_DOCS':
      return {
        problem: 'expected one document, and a second one begins here',
        hint: 'delete the line ---',
      }
    case 'DUPLICATE_KEY':
      return duplicateKey(text, at)
    case 'BAD_DQ_ESCAPE':
      return {
        problem: message,
        hint: String.raw`in double quotes a \ begins an escape: write the text in single quotes, or a path with /`,
      }
    case 'TAB_AS_INDENT':
      return { problem: 'a tab indents this line', hint: 'YAML is indented with spaces' }
    case 'MISSING_CHAR': {
      const open = /Missing closing (["'])/.exec(message)?.[1]
      if (open === undefined) break
      const start = openQuote(text, open, at)
      return {
        problem: 'this quote is never closed',
        hint: `add ${open} at the end of the value`,
        span: { start, end: start + 1 },
      }
    }
    case 'NO_ANCHOR':
      return { problem: message, hint: 'a string that begins with * needs quotes: "*"' }
    case 'BLOCK_AS_IMPLICIT_KEY':
      return deeperKey(text, message, at)
    case 'BAD_INDENT':
      return (
        unevenLine(text, message, at) ?? {
          problem: message,
          hint: 'check the indentation, and that each [ and { is closed',
        }
      )
  }
  return { problem: message, hint: lineHint(text, at) }
}

/** The parser reports the value of the line before. */
function deeperKey(text: string, message: string, at: number): Words {
  const lines = text.split('\n')
  const { line } = positionOf({ path: '', text }, at)
  const indentOf = (of: string) => /^[ -]*/.exec(of)![0].length
  const [own = '', next = ''] = [lines[line - 1], lines[line]]
  const isDeeper = indentOf(next) > indentOf(own) && /^[ -]*[\w.-]+:/.test(next)
  if (!isDeeper) return { problem: message, hint: lineHint(text, at) }
  const start = lines.slice(0, line).join('\n').length + 1 + indentOf(next)
  return {
    problem: `this key is indented deeper than line ${line}, which has a value`,
    hint: `indent it as much as line ${line}`,
    span: { start, end: start + next.trim().length },
  }
}

/** The parser reports the beginning of the line. null: the mistake is another one. */
function unevenLine(text: string, message: string, at: number): Words | null {
  if (!message.startsWith('All mapping items must start')) return null
  const { line } = positionOf({ path: '', text }, at)
  const lines = text.split('\n')
  const own = lines[line - 1] ?? ''
  const indent = blanksOf(own)
  const above = lines.slice(0, line - 1).findLast((one) => /^ *(?:- +)?[\w.-]+:/.test(one))
  if (above === undefined || own.trim() === '' || indent === blanksOf(above)) return null
  const start = text.lastIndexOf('\n', at - 1) + 1 + indent
  return {
    problem: `this line is indented by ${spaces(indent)}, and the one above it by ${blanksOf(above)}`,
    hint: 'indent keys of one group alike, and those below a key by two spaces more',
    span: { start, end: start + own.trim().length },
  }
}

const blanksOf = (line: string) => /^ */.exec(line)![0].length
const spaces = (count: number) => (count === 1 ? 'one space' : `${count} spaces`)

/** The parser reports the place of the second one. */
function duplicateKey(text: string, at: number): Words {
  const key = /^[^\s:]+/.exec(text.slice(at))?.[0] ?? ''
  const lineStart = text.lastIndexOf('\n', at - 1) + 1
  const indent = text.slice(lineStart, at)
  const first = text.search(
    new RegExp(`^${indent}${key.replaceAll(/[^\w]/g, '\\$&')}[ \\t]*:`, 'm'),
  )
  const line = positionOf({ path: '', text }, Math.max(first, 0)).line
  return {
    problem: `"${key}" is set twice, first in line ${line}`,
    hint: 'delete one of the two',
    span: { start: at, end: at + key.length },
  }
}

/** The parser reports the end of the file, or that of the value. */
function openQuote(text: string, quote: string, at: number): number {
  const before = text.slice(0, at)
  for (let i = before.length - 1; i >= 0; i--)
    if (
      before[i] === quote &&
      /[:[{,\s-]/.test(before[i - 1] ?? ' ') &&
      before.indexOf(quote, i + 1) < 0
    )
      return i
  return Math.max(0, before.lastIndexOf(quote))
}

function lineHint(text: string, at: number): string | undefined {
  const start = text.lastIndexOf('\n', at - 1) + 1
  const end = text.indexOf('\n', at)
  const line = { start, end: end < 0 ? text.length : end }
  return blankHint(text.slice(line.start, line.end).trim(), { start: 0, end: Infinity })
}
