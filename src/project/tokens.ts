// `odata.tokens` and `collect.tokens` of eider.yml: tokens with names, of which only hashes are written down.

import { isMap, type Node } from 'yaml'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { NamedToken } from '../access/credential.ts'
import { NAME_IN_LOG, type ReaderToken } from '../access/hashed-tokens.ts'
import type { WrittenFilter } from '../access/reader.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import { type Environments, malformedReference, valueInForce } from './environment-values.ts'
import {
  entriesOf,
  groupOf,
  itemsOf,
  type Members,
  type Reader,
  spanOf,
  startOf,
  textOfNode,
} from './members.ts'

const EXPECTED = {
  name: 'a name of letters, digits, _ and -',
  hash: 'sha256: and 64 hexadecimal digits, as eider token prints it, or ${NAME}',
  expires: 'a date such as 2027-01-31, the last day, or a time such as 2027-01-31T12:00:00Z',
  rows: 'a condition in SQL, or a group of them by the names of sets',
}

/** Tokens whose hashes may still be names of variables. */
export interface WrittenTokens {
  readonly key: string
  readonly tokens: readonly (ReaderToken & { readonly span: Span })[]
  readonly source: SourceFile
}

/** Members of a token. What it is for is named by a list of names or patterns under the fourth. */
export const tokenKeys = {
  'odata.tokens': ['name', 'hash', 'expires', 'sets', 'rows'],
  'collect.tokens': ['name', 'hash', 'expires', 'targets'],
} as const

export function readTokens(
  key: keyof typeof tokenKeys,
  node: Node | null,
  reader: Reader,
): WrittenTokens {
  const { source, refuse } = reader
  const expected = 'a list of tokens, each with name and hash'
  const items = itemsOf(node, key, expected, reader, 'eider token NAME prints one')
  const names = new Set<string>()
  const hashes = new Set<string>()
  const tokens = items.flatMap((item) => {
    const token = readToken(key, item, reader)
    if (token === null) return []
    if (names.has(token.name.toLowerCase()))
      refuse(item, key, `unique names; there are two "${token.name}"`)
    names.add(token.name.toLowerCase())
    if (hashes.has(token.hash))
      refuse(item, key, `unique hashes; "${token.name}" has the hash of another token`)
    hashes.add(token.hash)
    return [token]
  })
  return { key, tokens, source }
}

function readToken(
  key: keyof typeof tokenKeys,
  node: Node,
  reader: Reader,
): WrittenTokens['tokens'][number] | null {
  const scopeKey = tokenKeys[key][3]
  if (!isMap(node))
    return reader.refuse(
      startOf(node),
      key,
      'a group of name and hash: a token itself is written nowhere',
      'eider token NAME makes a token, and prints what to write here',
    )
  const members = groupOf(node, key, tokenKeys[key], reader)
  if (members === null) return null
  const name = members.text('name', EXPECTED.name)
  const hash = members.text('hash', EXPECTED.hash)
  const hint = `eider token ${name ?? 'NAME'}`
  if (name === null || hash === null) {
    if (!members.has('name')) members.refuseMember('name', EXPECTED.name)
    if (!members.has('hash')) members.refuseMember('hash', EXPECTED.hash, hint)
    return null
  }
  if (!NAME_IN_LOG.test(name)) members.refuseMember('name', EXPECTED.name)
  const isWritten = malformedReference(hash) === null && (hash.includes('${') || isHash(hash))
  if (!isWritten) members.refuseMember('hash', EXPECTED.hash, hint)
  const { source } = reader
  const scope = members.texts(scopeKey, 'a list of names or patterns')
  return {
    name,
    hash,
    expiresAt: expiryOf(members),
    scope: members.has(scopeKey) ? scope.map((one) => ({ ...one, source })) : null,
    rows: rowsOf(members),
    span: startOf(members.node('hash')!),
  }
}

const isHash = (text: string) => /^sha256:[0-9a-f]{64}$/i.test(text)

/** A date is good to its end. */
function expiryOf(members: Members): Date | null {
  const node = members.node('expires')
  if (node === undefined) return null
  const text = textOfNode(node)?.trim() ?? ''
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?Z$/.test(text)
  const at = new Date(isDay ? `${text}T00:00:00Z` : text)
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 10))
  if ((isDay || isTime) && isReal) return isDay ? new Date(at.getTime() + 24 * 60 * 60_000) : at
  return members.refuseMember('expires', EXPECTED.expires)
}

function rowsOf({ node: nodeOf, path, source, refuse, refuseMember }: Members) {
  const node = nodeOf('rows')
  if (node === undefined) return []
  const whole = textOfNode(node)
  if (whole !== null) return [{ set: null, text: whole, source, span: spanOf(node) }]
  if (!isMap(node)) refuseMember('rows', EXPECTED.rows)
  return (isMap(node) ? entriesOf(node) : []).flatMap(({ name, key, value }): WrittenFilter[] => {
    const text = textOfNode(value)
    if (text !== null) return [{ set: name, text, source, span: spanOf(value!) }]
    refuse(value ?? key, `${path}.rows`, EXPECTED.rows)
    return []
  })
}

/** With the values of variables. Throws DiagnosticsError for one that is not set, or that holds no hash. */
export function tokensInForce<T extends NamedToken>(
  {
    key,
    tokens,
    source,
  }: Omit<WrittenTokens, 'tokens'> & {
    readonly tokens: readonly (T & { readonly span: Span })[]
  },
  environments: Environments,
): readonly T[] {
  return tokens.map((token) => {
    const place = { source, span: token.span }
    const text = valueInForce(token.hash, environments, { key: `${key}.hash`, ...place }).trim()
    if (isHash(text)) return { ...token, hash: text.slice('sha256:'.length).toLowerCase() }
    const parameters = { key: `${key}.hash`, expected: EXPECTED.hash }
    const hint = 'with the values of its variables it is not such a hash'
    throw new DiagnosticsError([diagnostic('config-invalid-value', parameters, place, hint)])
  })
}
