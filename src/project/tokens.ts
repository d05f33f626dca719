// `odata.tokens` and `collect.tokens` of eider.yml: tokens with names, of which only hashes are written down.

import { isMap, isScalar, isSeq, type Node, type Pair } from 'yaml'
import { diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { NamedToken } from '../access/credential.ts'
import { NAME_IN_LOG, type ReaderToken } from '../access/hashed-tokens.ts'
import type { ScopeName, WrittenFilter } from '../access/rights.ts'
import type { SourceFile, Span } from '../core/source.ts'
import { malformedReference, valueInForce } from './environment-values.ts'
import { groupOf, isAbsent, type Refuse, spanOf, textMember, textsMember } from './members.ts'

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
  source: SourceFile,
  refuse: Refuse,
): WrittenTokens {
  const nothing = { key, tokens: [], source }
  if (isAbsent(node)) return nothing
  if (!isSeq(node)) {
    refuse(node, key, 'a list of tokens, each with name and hash', 'eider token NAME prints one')
    return nothing
  }
  const names = new Set<string>()
  const hashes = new Set<string>()
  const tokens = (node.items as readonly Node[]).flatMap((item) => {
    const token = readToken(key, item, source, refuse)
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
  source: SourceFile,
  refuse: Refuse,
): WrittenTokens['tokens'][number] | null {
  const scopeKey = tokenKeys[key][3]
  const members = groupOf(node, key, tokenKeys[key], refuse)
  if (members === null) return null
  const name = textMember(members, 'name', key, EXPECTED.name, refuse)
  const hash = textMember(members, 'hash', key, EXPECTED.hash, refuse)
  if (name === null || hash === null) {
    if (!members.has('name')) refuse(node, `${key}.name`, EXPECTED.name)
    if (!members.has('hash'))
      refuse(node, `${key}.hash`, EXPECTED.hash, `eider token ${name ?? 'NAME'}`)
    return null
  }
  if (!NAME_IN_LOG.test(name)) refuse(members.get('name')!, `${key}.name`, EXPECTED.name)
  const isWritten = malformedReference(hash) === null && (hash.includes('${') || isHash(hash))
  if (!isWritten) refuse(members.get('hash')!, `${key}.hash`, EXPECTED.hash, `eider token ${name}`)
  const scope = members.has(scopeKey) ? scopeOf(members, scopeKey, key, source, refuse) : null
  const { start } = spanOf(members.get('hash')!)
  return {
    name,
    hash,
    expiresAt: expiryOf(members.get('expires'), key, refuse),
    scope,
    rows: rowsOf(members.get('rows'), key, source, refuse),
    span: { start, end: start },
  }
}

function scopeOf(
  members: ReadonlyMap<string, Node>,
  scopeKey: string,
  key: string,
  source: SourceFile,
  refuse: Refuse,
): readonly ScopeName[] {
  return textsMember(members, scopeKey, key, 'a list of names or patterns', refuse).map(
    ({ text, node }) => ({ text, source, span: spanOf(node) }),
  )
}

const isHash = (text: string) => /^sha256:[0-9a-f]{64}$/i.test(text)

/** A date is good to its end. */
function expiryOf(node: Node | undefined, key: string, refuse: Refuse): Date | null {
  if (node === undefined) return null
  const text = isScalar(node) && typeof node.value === 'string' ? node.value.trim() : ''
  const isDay = /^\d{4}-\d{2}-\d{2}$/.test(text)
  const isTime = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(?::\d{2})?Z$/.test(text)
  const at = new Date(isDay ? `${text}T00:00:00Z` : text)
  const isReal = !Number.isNaN(at.getTime()) && at.toISOString().startsWith(text.slice(0, 10))
  if ((isDay || isTime) && isReal) return isDay ? new Date(at.getTime() + 24 * 60 * 60_000) : at
  refuse(node, `${key}.expires`, EXPECTED.expires)
  return null
}

function rowsOf(
  node: Node | undefined,
  key: string,
  source: SourceFile,
  refuse: Refuse,
): readonly WrittenFilter[] {
  if (node === undefined) return []
  const textOf = (value: Node | null) =>
    isScalar(value) && typeof value.value === 'string' && value.value.trim() !== ''
      ? value.value
      : null
  const whole = textOf(node)
  if (whole !== null) return [{ set: null, text: whole, source, span: spanOf(node) }]
  if (!isMap(node)) {
    refuse(node, `${key}.rows`, EXPECTED.rows)
    return []
  }
  return (node.items as readonly Pair<Node, Node | null>[]).flatMap(({ key: name, value }) => {
    const set = isScalar(name) ? String(name.value) : ''
    const text = textOf(value)
    if (text !== null) return [{ set, text, source, span: spanOf(value!) }]
    refuse(value ?? name, `${key}.rows`, EXPECTED.rows)
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
  environments: readonly Readonly<Record<string, string | undefined>>[],
): readonly T[] {
  return tokens.map((token) => {
    const place = { source, span: token.span }
    const text = valueInForce(token.hash, environments, { key: `${key}.hash`, ...place }).trim()
    if (isHash(text)) return { ...token, hash: text.slice('sha256:'.length).toLowerCase() }
    const parameters = { key: `${key}.hash`, expected: EXPECTED.hash }
    const hint = 'with the values of its variables it is not such a hash'
    throw new DiagnosticsError([diagnostic('config-invalid-value', parameters, place, { hint })])
  })
}
