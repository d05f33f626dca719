// `secrets` of eider.yml: by which remote files are read. What is secret in one comes from the environment alone.

import { type Node, type YAMLMap, isMap } from 'yaml'
import type { Diagnostic } from '../../core/diagnostics.ts'
import type { FileSecret } from '../../core/sources.ts'
import type { HiddenValue } from '../../core/hidden.ts'
import { parseEndpoint } from '../urls.ts'
import { didYouMean } from '../../core/suggest.ts'
import { type Environments, isReference } from '../environment-values.ts'
import { membersOf, type Reader, startOf } from '../members.ts'
import { fromEnvironment } from './environment.ts'
import { type Group, namedGroups, refuseText, type Text, textOf } from './nodes.ts'

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
/** Only from the environment. A value in the file is refused, and its line not shown: messages end up in logs. */
const HIDDEN = ['secret', 'token', 'password']
const EXPECTED = 'a group with type: s3 or http'

export function readSecrets(
  node: Node | null,
  reader: Reader,
  environments: Environments,
): ReadonlyMap<string, DeclaredSecret> {
  const found = new Map<string, DeclaredSecret>()
  const groups = namedGroups(node, 'secrets', 'a group of secrets by name', reader)
  for (const { name, key, value } of groups) {
    const path = `secrets.${name}`
    if (!/^[\w-]+$/.test(name) || found.has(name))
      reader.refuse(key, path, 'named with letters, digits, _ and -, and named once')
    else if (isMap(value)) {
      const secret = readSecret(name, key, value, reader, environments)
      if (secret !== null) found.set(name, secret)
    } else reader.refuse(startOf(value ?? key), path, EXPECTED)
  }
  return found
}

function readSecret(
  name: string,
  at: Node,
  node: YAMLMap,
  reader: Reader,
  environments: Environments,
): DeclaredSecret | null {
  const path = `secrets.${name}`
  const typeNode = node.get('type', true) as Node | undefined
  const written = typeNode === undefined ? null : (node.get('type') as unknown)
  const type = TYPES.find((known) => known === written)
  if (type === undefined)
    return reader.refuse(
      typeNode ?? at,
      `${path}.type`,
      's3 or http',
      didYouMean(String(written), TYPES),
    )
  const environment = fromEnvironment(name, path, reader.source, environments)
  const members = membersOf(node, path, SECRET_KEYS[type], reader, { at, hidden: HIDDEN })
  const group = { ...members, environment }
  const secret = type === 's3' ? storeSecret(name, group) : webSecret(name, group)
  const { mistakes, hidden } = environment
  return { type, secret: mistakes.length === 0 ? secret : null, mistakes, hidden }
}

function storeSecret(name: string, group: Group): FileSecret {
  const keyId = textOf(group, 'key_id', 'the id of a key, or ${NAME}')
  const [secret, token] = [hiddenText(group, 'secret'), hiddenText(group, 'token')]
  if ((keyId === null) !== (secret === null) && group.has('key_id') !== group.has('secret'))
    group.refuseMember(null, 'a group with key_id and secret, or with neither for public files')
  const region = textOf(group, 'region', 'the name of a region')?.value ?? 'us-east-1'
  const style = textOf(group, 'url_style', 'vhost or path')?.written ?? 'vhost'
  if (style !== 'vhost' && style !== 'path') group.refuseMember('url_style', 'vhost or path')
  return {
    name,
    type: 's3',
    keyId: keyId?.value ?? null,
    secret: secret?.value ?? null,
    token: token?.value ?? null,
    region,
    ...endpointOf(group),
    urlStyle: style === 'path' ? 'path' : 'vhost',
  }
}

function endpointOf(group: Group): { readonly endpoint: string | null; readonly usesTls: boolean } {
  const expected = 'a URL of a host, such as https://store.example:9000'
  const text = textOf(group, 'endpoint', expected)
  const parsed = text?.value == null ? null : parseEndpoint(text.value)
  if (text?.value != null && parsed === null) refuseText(group, 'endpoint', text, expected)
  return parsed ?? { endpoint: null, usesTls: true }
}

function webSecret(name: string, group: Group): FileSecret | null {
  const [token, password] = [hiddenText(group, 'token'), hiddenText(group, 'password')]
  const user = textOf(group, 'user', 'the name of a user')
  const { has } = group
  if (has('token') === (has('user') && has('password')) || has('user') !== has('password'))
    return group.refuseMember(null, 'a group with token, or with user and password')
  if (token !== null)
    return token.value === null
      ? null
      : { name, type: 'http', authorization: `Bearer ${token.value}` }
  if (user?.value == null || password?.value == null) return null
  const pair = Buffer.from(`${user.value}:${password.value}`, 'utf8').toString('base64')
  group.environment.hidden.push({ value: pair, shown: password.written })
  return { name, type: 'http', authorization: `Basic ${pair}` }
}

function hiddenText(group: Group, key: string): Text | null {
  const expected = 'a variable of the environment, such as ${NAME}'
  const text = textOf(group, key, expected)
  if (text === null || isReference(text.written)) return text
  return group.refuseMember(key, expected, 'set it in the environment or in .env')
}
