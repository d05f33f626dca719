// What is told of URLs, and of SQL that has some: never what stands before the host, nor behind the path, where keys are.

import { tokenize } from '../../compiler/sql/tokens.ts'

interface UrlParts {
  readonly scheme: string
  readonly hasUser: boolean
  /** Host and path. */
  readonly place: string
  readonly hasQuery: boolean
}

/** Also of what is no URL that can be parsed: a password may have a slash unescaped, a path the characters of a pattern. */
export function urlParts(url: string): UrlParts {
  const [, scheme = '', rest = ''] = /^([^:]*):\/\/([^]*)$/.exec(url) ?? []
  const [authority = ''] = rest.split(/[/?#]/, 1)
  const isHost = /^(?:\[[^\]]*\]|[^:@]*)(?::\d*)?$/.test(authority)
  const userEnd = authority.includes('@') ? authority.lastIndexOf('@') : rest.lastIndexOf('@')
  const bare = isHost ? rest : rest.slice(userEnd + 1)
  // In a pattern of files a question mark is any character; what is written as ?name=value is not of the path anywhere.
  const query = /^https?$/i.test(scheme) ? bare.search(/[?#]/) : bare.search(/\?\w+=/)
  const place = query < 0 ? bare : bare.slice(0, query)
  return { scheme, hasUser: bare !== rest, place, hasQuery: query >= 0 }
}

/** The same text with *** for what is hidden of its URLs. One in quotes may have spaces; elsewhere it is a word. */
export function toldSql(text: string): string {
  if (!text.includes('://')) return text
  const parts: string[] = []
  let end = 0
  for (const token of tokenize(text)) {
    const isQuoted = token.kind === 'string' || token.kind === 'quoted'
    if (!isQuoted && token.kind !== 'comment') continue
    const url = isQuoted ? QUOTED_URL : URL_IN_WORDS
    parts.push(text.slice(end, token.start), token.text.replaceAll(url, toldUrl))
    end = token.end
  }
  return parts.join('') + text.slice(end)
}

const URL_IN_WORDS = /[a-z][\w+.-]*:\/\/[^\s'"]+/gi
/** To the quote at the end of the literal. */
const QUOTED_URL = /[a-z][\w+.-]*:\/\/[^]*?(?=(?:['"]|\$\w*\$)?$)/gi

function toldUrl(url: string): string {
  const { scheme, hasUser, place, hasQuery } = urlParts(url)
  return `${scheme}://${hasUser ? '***@' : ''}${place}${hasQuery ? '?***' : ''}`
}
