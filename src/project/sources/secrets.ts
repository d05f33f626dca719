// `secrets` of eider.yml: by which remote files are read. What is secret in one comes from the environment alone.

import { type Node, type YAMLMap, isMap } from 'yaml'
import type { Diagnostic } from '../../core/diagnostics.ts'
import type { FileSecret } from '../../core/sources.ts'
import type { HiddenValue } from '../../core/hidden.ts'
import { parseEndpoint } from '../urls.ts'
import type { SourceFile } from '../../core/source.ts'
import { didYouMean } from '../../core/suggest.ts'
import { membersOf, type Refuse } from '../members.ts'
import { type Environments, FromEnvironment, isVariable } from './environment.ts'
import { type Group, pairsOf, type Text, textOf } from './nodes.ts'

export interface DeclaredSecret {
  readonly type: 's3' | 'http'
  /** null together with a mistake. */
  readonly secret: FileSecret | null
  readonly mistakes: readonly Diagnostic[]
  readonly hidden: readonly HiddenValue[]
}

const TYPES = ['s3', 'http'] as const
export const SECRET_KEYS = {
  s3: ['type', 'key_id', 'secret', 'token', 'region', 'endpoint', 'url_style'],
  http: ['type', 'token', 'user', 'password'],
} as const
const EXPECTED = 'a group with type: s3 or http'

export function readSecrets(
  node: Node | null,
  source: SourceFile,
  refuse: Refuse,
  environments: Environments,
): ReadonlyMap<string, DeclaredSecret> {
  const found = new Map<string, DeclaredSecret>()
  for (const [name, key, value] of pairsOf(node, 'secrets', 'a group of secrets by name', refuse)) {
    const path = `secrets.${name}`
    if (!/^[\w-]+$/.test(name) || found.has(name))
      refuse(key, path, 'named with letters, digits, _ and -, and named once')
    else if (isMap(value)) {
      const environment = new FromEnvironment(name, path, source, environments)
      const secret = readSecret(name, key, value, { path, refuse, environment })
      if (secret !== null) found.set(name, secret)
    } else refuse(unshown(value ?? key), path, EXPECTED)
  }
  return found
}

function readSecret(
  name: string,
  key: Node,
  node: YAMLMap,
  place: Omit<Group, 'members'>,
): DeclaredSecret | null {
  const { path, refuse, environment } = place
  const typeNode = node.get('type', true) as Node | undefined
  const written = typeNode === undefined ? null : (node.get('type') as unknown)
  const type = TYPES.find((known) => known === written)
  if (type === undefined) {
    refuse(typeNode ?? key, `${path}.type`, 's3 or http', didYouMean(String(written), TYPES))
    return null
  }
  const group = { ...place, members: membersOf(node, path, SECRET_KEYS[type], refuse) }
  const secret = type === 's3' ? storeSecret(name, key, group) : webSecret(name, key, group)
  const { mistakes, hidden } = environment
  return { type, secret: mistakes.length === 0 ? secret : null, mistakes, hidden }
}

function storeSecret(name: string, key: Node, group: Group): FileSecret | null {
  const keyId = textOf(group, 'key_id', 'the id of a key, or ${NAME}')
  const [secret, token] = [hiddenText(group, 'secret'), hiddenText(group, 'token')]
  if (
    (keyId === null) !== (secret === null) &&
    group.members.has('key_id') !== group.members.has('secret')
  )
    group.refuse(
      key,
      group.path,
      'a group with key_id and secret, or with neither for public files',
    )
  const region = textOf(group, 'region', 'the name of a region')?.value ?? 'us-east-1'
  const style = textOf(group, 'url_style', 'vhost or path')
  if (style !== null && style.written !== 'vhost' && style.written !== 'path')
    group.refuse(style.node, `${group.path}.url_style`, 'vhost or path')
  const endpoint = endpointOf(group)
  return {
    name,
    type: 's3',
    keyId: keyId?.value ?? null,
    secret: secret?.value ?? null,
    token: token?.value ?? null,
    region,
    ...endpoint,
    urlStyle: style?.written === 'path' ? 'path' : 'vhost',
  }
}

function endpointOf(group: Group): { readonly endpoint: string | null; readonly usesTls: boolean } {
  const expected = 'a URL of a host, such as https://store.example:9000'
  const text = textOf(group, 'endpoint', expected)
  const parsed = text?.value == null ? null : parseEndpoint(text.value)
  if (text?.value != null && parsed === null)
    if (text.value === text.written) group.refuse(text.node, `${group.path}.endpoint`, expected)
    else
      group.environment.wrong(
        `${text.written} is not ${expected}`,
        text.node,
        `set it to ${expected}`,
      )
  return parsed ?? { endpoint: null, usesTls: true }
}

function webSecret(name: string, key: Node, group: Group): FileSecret | null {
  const [token, password] = [hiddenText(group, 'token'), hiddenText(group, 'password')]
  const user = textOf(group, 'user', 'the name of a user')
  const has = (member: string) => group.members.has(member)
  if (has('token') === (has('user') && has('password')) || has('user') !== has('password')) {
    group.refuse(key, group.path, 'a group with token, or with user and password')
    return null
  }
  if (token !== null)
    return token.value === null
      ? null
      : { name, type: 'http', authorization: `Bearer ${token.value}` }
  if (user?.value == null || password?.value == null) return null
  const pair = Buffer.from(`${user.value}:${password.value}`, 'utf8').toString('base64')
  group.environment.hidden.push({ value: pair, shown: password.written })
  return { name, type: 'http', authorization: `Basic ${pair}` }
}

/** Only from the environment. A value in the file is refused, and its line not shown: messages end up in logs. */
function hiddenText(group: Group, key: string): Text | null {
  const expected = 'a variable of the environment, such as ${NAME}'
  const node = group.members.get(key)
  if (node === undefined) return null
  const text = textOf(
    { ...group, refuse: (at, ...rest) => group.refuse(unshown(at), ...rest) },
    key,
    expected,
  )
  if (text === null || isVariable(text.written)) return text
  group.refuse(
    unshown(node),
    `${group.path}.${key}`,
    expected,
    'set it in the environment or in .env',
  )
  return null
}

/** The same place, of which no text is shown. */
function unshown(node: Node): Node {
  const [start] = node.range ?? [0]
  return Object.assign(Object.create(Object.getPrototypeOf(node) as object) as Node, node, {
    range: [start, start, start],
  })
}
