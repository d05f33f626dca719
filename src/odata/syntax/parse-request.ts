// From the target of a request to syntax: path segments, options, parameter aliases. The URL is split first and
// decoded after, once: an encoded slash, ampersand or equals sign is part of the text it stands in.

import { odataError, invalidOption } from '../protocol/errors.ts'
import { parseText, withTarget } from './parse-option.ts'
import { ENCODED_SEMICOLON } from './options.grammar.ts'
import { targetBelowRoot } from '../protocol/service-root.ts'
import { isPlainOption, optionName, parsePlainOption, requireValue } from './option-names.ts'
import type {
  KeySyntax,
  ExpressionSyntax,
  OptionName,
  OptionSyntax,
  PathSegment,
  RequestSyntax,
} from './syntax.ts'

/**
 * `target` is the path below the service root with its query, percent-encoded; it may begin with a slash. `root` is the
 * absolute URL of the service. Throws RequestError 400, 404 and, for an option that is known but not served, 501.
 */
export function parseRequest(target: string, root: string): RequestSyntax {
  if (target.includes('#')) throw odataError('invalid-url', 'write %23 for "#" in a URL')
  const [path, query] = splitTarget(target)
  const { options, aliases } = parseQuery(query)
  const segments = parsePath(path)
  const [first, cast, ...more] = segments
  if (first?.name !== '$entity' || more.length > 0 || cast?.name.includes('.') === false)
    return { path: segments, options, aliases }
  const { id, ...others } = options
  if (id === undefined) throw invalidOption('$entity needs $id, the URL of an entity', '$id')
  const [entity, optionsOfId] = splitTarget(withTarget('$id', () => targetBelowRoot(id, root)))
  if (optionsOfId !== '') throw invalidOption('$id is the URL of an entity without options', '$id')
  const entityPath = [...parsePath(entity), ...(cast === undefined ? [] : [cast])]
  return { path: entityPath, options: others, aliases, isOneEntity: true }
}

export function splitTarget(target: string): readonly [path: string, query: string] {
  const at = target.indexOf('?')
  return at < 0 ? [target, ''] : [target.slice(0, at), target.slice(at + 1)]
}

function parsePath(path: string): readonly PathSegment[] {
  const inner = path.replace(/^\//, '').replace(/\/$/, '')
  if (inner === '') return []
  const texts = inner.split('/')
  return texts.map((text, i) => parseSegment(text, texts.slice(i + 1)))
}

/** A name, and a key in parentheses when there is one. `after` are the segments that follow. */
function parseSegment(text: string, after: readonly string[]): PathSegment {
  const decoded = decode(text)
  const [, name = decoded, inner = null] = /^(\$?[^\s()'"$]+)(?:\((.*)\))?$/su.exec(decoded) ?? []
  const isOurs = name.startsWith('$')
  if (inner === null && /^[^\s()'"$]+\([^)]*$/u.test(decoded)) throw notClosed(decoded, after)
  const key = inner === null || isOurs ? null : parseKey(inner)
  return { name, key, argument: isOurs ? inner : null, text, decoded }
}

/** A slash within the text of a key separates segments, unless it is encoded. */
function notClosed(decoded: string, after: readonly string[]): Error {
  const end = after.findIndex((text) => /'[^']*\)$/.test(text))
  const isInText = (decoded.match(/'/g)?.length ?? 0) % 2 === 1 && end >= 0
  const problem = isInText
    ? `a slash within a key is written %2F: ${[decoded, ...after.slice(0, end + 1)].join('%2F').slice(0, 120)}`
    : `write ${decoded.slice(0, 60)})`
  return odataError('invalid-key', `the key is not closed: ${problem}`)
}

/** Whether there is a set that lacks its key, or none at all, is seen later. */
const parseKey = (text: string): KeySyntax =>
  text.trim() === '' ? { kind: 'named', values: [] } : parseText('key', text, 'the key')

function parseQuery(query: string): Pick<RequestSyntax, 'options' | 'aliases'> {
  let options: OptionSyntax = {}
  const aliases = new Map<string, ExpressionSyntax>()
  for (const pair of query.split('&')) {
    if (pair === '') continue
    const [name, value] = decodePair(pair)
    if (name.startsWith('@')) {
      if (aliases.has(name.slice(1))) throw duplicate(name)
      aliases.set(name.slice(1), parseText('wholeExpression', value, name))
      continue
    }
    if (name === '' && value !== '')
      throw odataError(
        'unknown-option',
        `the option of "=${value.slice(0, 40)}" has no name; a shell takes $filter for one of its variables unless the URL is in single quotes`,
      )
    const option = optionName(name, value)
    if (option === null) continue
    if (Object.hasOwn(options, option)) throw duplicate(`$${option}`)
    const isSearched = (option === 'search' || option === 'expand') && /%3b/i.test(pair)
    const text = isSearched ? searchText(pair, option) : value
    options = { ...options, ...parseOption(option, text) }
  }
  return { options, aliases }
}

/** The option with its value parsed, as a member for OptionSyntax. */
function parseOption(name: OptionName, text: string): OptionSyntax {
  if (isPlainOption(name)) return parsePlainOption(name, text)
  requireValue(name, text)
  if (name === 'format' || name === 'id' || name === 'skiptoken' || name === 'deltatoken')
    return { [name]: text }
  return { [name]: parseText(name === 'filter' ? 'wholeExpression' : name, text, `$${name}`) }
}

/** Within $expand an encoded semicolon is a part of a word of $search only when no other option follows it. */
function searchText(pair: string, option: 'search' | 'expand'): string {
  const marked = (text: string, semicolon: RegExp) => text.replaceAll(semicolon, ENCODED_SEMICOLON)
  const kept =
    option === 'search'
      ? marked(pair, /%3b/gi)
      : pair.replaceAll(/search=[^;)]*/gi, (search) =>
          marked(search, /%3b(?!(?:\$|%24|@|%40)?[a-z]+(?:=|%3d))/gi),
        )
  return decodePair(kept)[1]
}

/** In a query a plus is a space, as forms and most client libraries write it; a plus itself is %2B. */
export function decodePair(pair: string): readonly [name: string, value: string] {
  const text = pair.replaceAll('+', ' ')
  const equals = text.indexOf('=')
  return equals < 0
    ? [decode(text), '']
    : [decode(text.slice(0, equals)), decode(text.slice(equals + 1))]
}

/** For a look at the names in a URL that may be malformed: a letter may be written as %6E. */
export const decodeAscii = (text: string): string =>
  text.includes('%')
    ? text.replace(/%[0-7][0-9a-f]/gi, (code) => String.fromCharCode(parseInt(code.slice(1), 16)))
    : text

export function decode(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    throw odataError(
      'invalid-url',
      'the URL has a percent sign that does not encode a UTF-8 character',
    )
  }
}

const duplicate = (target: string) =>
  odataError('duplicate-option', `${target} is given more than once`, target)
