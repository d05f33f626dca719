// eider.yml as settings, with the place of everything that is wrong in it.

import { type Document, type Node, type YAMLMap, isMap, isScalar, isSeq } from 'yaml'
import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { builtInExtensions, extensionNamed, extensionNames } from '../core/extensions.ts'
import type { ExternalSource } from '../core/sources.ts'
import { holdsPassword } from './urls.ts'
import { parameterHint } from '../core/server-url.ts'
import type { SourceFile, Span } from '../core/source-text.ts'
import { didYouMean } from '../core/suggest.ts'
import type { Variables } from '../core/variables.ts'
import { isSettingName, type SecretName, settings, type SettingType } from './settings.ts'
import { readSecrets } from './sources/secrets.ts'
import { readSources } from './sources/sources.ts'
import type { Notify } from '../core/notifications.ts'
import type { Schedule } from '../core/schedule.ts'
import { entriesOf, isAbsent, type Reader, type Refuse, spanOf, startOf } from './members.ts'
import { readNotify } from './notify.ts'
import { readTokens, type WrittenTokens } from './tokens.ts'
import { type PlacedSender, readSignedSenders } from './signed-senders.ts'
import type { CredentialKind } from '../access/credential.ts'
import { readSchedule } from './schedule.ts'
import {
  type Environments,
  malformedReference,
  type SettingReference,
} from './environment-values.ts'
import { type SettingValue, acceptValue, describeType, isFilled, parseValue } from './values.ts'
import { blankHint, parseYaml } from './yaml-problems.ts'
import { readVariables } from './variables.ts'

export interface Config {
  /** Empty only together with a diagnostic. */
  readonly name: string
  readonly values: WrittenValues
  /** What each target overrides, by its name. */
  readonly targets: ReadonlyMap<string, WrittenValues>
  /** With the values of the environment; the first that has one counts. */
  readonly sources: (environments: Environments) => readonly ExternalSource[]
  readonly schedule: Schedule
  /** `odata.tokens`, their variables not yet looked up. */
  readonly readers: WrittenTokens
  /** `collect.tokens`, likewise. */
  readonly senders: WrittenTokens
  readonly signedSenders: readonly PlacedSender[]
  /** null: nobody is told. */
  readonly notify: Notify | null
  /** What is declared, and what each target overrides. */
  readonly variables: Variables
  readonly targetVariables: ReadonlyMap<string, Variables>
  readonly diagnostics: readonly Diagnostic[]
}

/** By the name of the setting: its value, or what the environment completes. */
export type WrittenValues = ReadonlyMap<string, WrittenValue>
export type WrittenValue = SettingValue | { readonly reference: SettingReference }

const text = { is: 'text' } as const
const settingNames = Object.keys(settings)
/** Keys of the file that are not settings; of these a target has `vars` alone. */
export const keysOfFile = [
  'name',
  'notify',
  'schedule',
  'sources',
  'secrets',
  'targets',
  'vars',
] as const
const WHOLE_FILE: Span = { start: 0, end: 0 }

export function parseConfig(source: SourceFile): Config {
  const { document, problems } = parseYaml(source)
  const values = new Map<string, WrittenValue>()
  const targets = new Map<string, Map<string, WrittenValue>>()
  const nodes = new Map<string, Node | null>()
  const diagnostics: Diagnostic[] = [...problems]
  const refuse: Refuse = (at, key, expected, hint) => {
    const place = { source, span: shownSpan(at, key) }
    diagnostics.push(diagnostic('config-invalid-value', { key, expected }, place, hint))
    return null
  }
  const reader = { source, refuse }
  const root = document.contents
  if (diagnostics.length === 0 && root !== null) {
    if (isMap(root)) {
      readGroup({ ...reader, document, values, targets, nodes, diagnostics }, root, '')
      refuseBoth(refuse, values, root, 'lake')
    } else {
      const problem = 'expected settings, one "key: value" per line'
      const span = spanOf(root as Node)
      const hint = blankHint(source.text, span) ?? 'such as name: shop'
      diagnostics.push(diagnostic('config-syntax', { problem }, { source, span }, hint))
    }
  }
  const nodeOf = (key: string) => nodes.get(key) ?? null
  const written = values.get('name')
  const name = typeof written === 'string' ? written : ''
  if (name === '' && diagnostics.length === 0) {
    const hint = 'add a line such as name: shop'
    const place = { source, span: WHOLE_FILE }
    diagnostics.push(diagnostic('config-missing-key', { key: 'name' }, place, hint))
  }
  return {
    name,
    values,
    targets,
    ...declarationsOf(nodeOf, targets.keys(), reader),
    schedule: readSchedule(nodeOf('schedule'), reader),
    notify: readNotify(nodeOf('notify'), reader),
    readers: readTokens('odata.tokens', nodeOf('odata.tokens'), reader),
    senders: readTokens('collect.tokens', nodeOf('collect.tokens'), reader),
    signedSenders: readSignedSenders(nodeOf('collect.webhooks'), reader),
    diagnostics,
  }
}

interface Reading extends Reader {
  readonly document: Document
  readonly values: Map<string, WrittenValue>
  /** null within a target. */
  readonly targets: Map<string, Map<string, WrittenValue>> | null
  /** What stands under keys that are not settings; those of a target have its name before them, as in `targets.prod.vars`. */
  readonly nodes: Map<string, Node | null>
  /** What a key of `nodes` begins with. */
  readonly path?: string
  readonly diagnostics: Diagnostic[]
}

/** `prefix` is empty or ends in a dot. A key without a value counts as absent. */
function readGroup(reading: Reading, group: YAMLMap, prefix: string): void {
  for (const { key, value } of entriesOf(group)) readEntry(reading, key, value, prefix)
}

function readEntry(reading: Reading, keyNode: Node, node: Node | null, prefix: string): void {
  const { document, values, refuse } = reading
  const written = prefix + (isScalar(keyNode) ? String(keyNode.value) : String(keyNode))
  // Short for the one member that most projects need.
  const key = written === 'extensions' && isSeq(node) ? 'extensions.load' : written
  if (isOfItsOwn(reading, key, node)) return
  const type = typeOfKey(reading, key)
  const isGroup = settingNames.some((name) => name.startsWith(`${key}.`))
  if (type === null && !isGroup) return refuseUnknown(reading, keyNode, key, prefix)
  if (isAbsent(node)) return
  if (isGroup && isMap(node)) return readGroup(reading, node, `${key}.`)
  const given: unknown = node.toJS(document)
  if (type !== null && isSecret(type, given)) return refuseSecret(reading, node, key)
  if (type !== null && hasReference(given)) return readReference(reading, node, key, type)
  const value = type === null ? null : acceptValue(type, given)
  if (value !== null) values.set(key, value)
  else if (type === null) refuse(node, key, 'a group of settings', groupHint(reading, key, node))
  else refuse(node, key, describeType(type), hintFor(type, given))
}

const textsOf = (given: unknown): readonly string[] =>
  (Array.isArray(given) ? given : [given]).filter((one) => typeof one === 'string')

const hasReference = (given: unknown): boolean => textsOf(given).some((one) => one.includes('${'))

/** It is never taken as it is written: a token would be a text that many can read in the file. */
function readReference(reading: Reading, node: Node, key: string, type: SettingType): void {
  const { document, source, values, refuse } = reading
  const given: unknown = node.toJS(document)
  const texts = textsOf(given)
  const isList = Array.isArray(given) && type.is === 'list' && texts.length === given.length
  const text = isList ? texts : typeof given === 'string' && type.is !== 'list' ? given : null
  if (key === 'name') refuse(node, key, 'a name without ${…}')
  else if (text === null || !isFilled(type))
    refuse(node, key, describeType(type), '${NAME} stands for text only')
  else {
    const problem = texts.map(malformedReference).find((one) => one !== null)
    if (problem != null) refuse(node, key, problem)
    else values.set(key, { reference: { text, key, source, span: spanOf(node) } })
  }
}

function hintFor(type: SettingType, given: unknown): string | undefined {
  if (type.is === 'catalog' && typeof given === 'string') return parameterHint(given, 'postgres')
  return extensionHint(type, given) ?? quotesHint(type, given)
}

function extensionHint({ is }: SettingType, given: unknown): string | undefined {
  if (is !== 'extensions' || !Array.isArray(given)) return undefined
  const wrong = given.map(String).find((name) => extensionNamed(name) === null) ?? ''
  if (builtInExtensions.has(wrong)) return `${wrong} is built into DuckDB: leave it out`
  return didYouMean(wrong, extensionNames) ?? `known: ${extensionNames.join(', ')}`
}

const isSecret = (type: SettingType, given: unknown): boolean =>
  type.is === 'secret' ||
  (type.is === 'catalog' && typeof given === 'string' && holdsPassword(given))

/** The line is not shown: messages end up in logs. */
function refuseSecret({ source, diagnostics }: Reading, node: Node, key: string): void {
  const expected = key === 'lake.catalog' ? 'a URL without a password' : 'set outside of eider.yml'
  const { env } = settings[key === 'lake.catalog' ? 'lake.password' : (key as SecretName)]
  const hint = `set ${env} in the environment or in .env`
  const place = { source, span: startOf(node) }
  diagnostics.push(diagnostic('config-invalid-value', { key, expected }, place, hint))
}

/** `port:8080` is one word to YAML. */
function groupHint({ source }: Reading, key: string, node: Node): string {
  const below = settingNames.filter((name) => name.startsWith(`${key}.`))
  const example = below.slice(0, 4).map((name) => name.slice(key.length + 1))
  return (
    blankHint(source.text, spanOf(node)) ??
    `its settings go below it, indented: ${example.join(', ')}, …`
  )
}

function quotesHint(type: SettingType, given: unknown): string | undefined {
  const bare = typeof given === 'string' ? parseValue(type, given) : null
  if (bare !== null) return `leave the quotes out: ${String(bare)}`
  return type.is === 'text' && ['number', 'boolean'].includes(typeof given)
    ? `put it in quotes: '${String(given)}'`
    : undefined
}

/** The keys that name the credentials of each kind. A kind that is missing here does not compile. */
const accessKeys = {
  'signed-sender': ['collect.webhooks'],
  'hashed-token': ['odata.tokens', 'collect.tokens'],
  anonymous: [],
} as const satisfies Readonly<Record<CredentialKind, readonly string[]>>

export type AccessKey = (typeof accessKeys)[CredentialKind][number]

const OF_THEIR_OWN = new Set([
  'schedule',
  'notify',
  'sources',
  'secrets',
  ...Object.values<readonly string[]>(accessKeys).flat(),
])

/** True for a key whose value is not a setting; it is stored for the code that reads it. */
function isOfItsOwn(reading: Reading, key: string, node: Node | null): boolean {
  const isInTarget = reading.targets === null
  if (key === 'targets' && !isInTarget) readTargets(reading, node)
  else if (key === 'vars' || (OF_THEIR_OWN.has(key) && !isInTarget))
    reading.nodes.set(`${reading.path ?? ''}${key}`, node)
  else return false
  return true
}

function typeOfKey({ targets }: Reading, key: string): SettingType | null {
  if (key === 'name' && targets !== null) return text
  return isSettingName(key) ? settings[key].type : null
}

function refuseUnknown(reading: Reading, keyNode: Node, key: string, prefix: string): void {
  const { source, diagnostics } = reading
  const known = knownKeys(reading, prefix)
  const hint = serverHint(key) ?? didYouMean(key, known) ?? `available here: ${known.join(', ')}`
  const place = { source, span: spanOf(keyNode) }
  diagnostics.push(diagnostic('config-unknown-key', { key }, place, hint))
}

/** What a proxy in front of the services does. */
function serverHint(key: string): string | undefined {
  const [, service, word = ''] = /^(odata|collect)\.(\w+)$/.exec(key) ?? []
  if (
    /^(?:ssl|tls|https|certs?|certificate|(?:ssl|tls)_\w+|\w+_cert|cert_\w+|key_file)$/i.test(word)
  )
    return 'a reverse proxy in front of eider does TLS (docs/guides/deploy.md)'
  if (!/^(?:path|base_?path|base_?url|prefix|root|url|public_url)$/i.test(word)) return undefined
  return service === 'odata'
    ? 'the path is /odata; a reverse proxy puts another before it, with odata.trust_proxy (docs/guides/deploy.md)'
    : 'the path is /collect; a reverse proxy puts another before it (docs/guides/deploy.md)'
}

/** `targets: {prod: {database: …}}`: a target overrides settings. */
function readTargets(reading: Reading, node: Node | null): void {
  const { targets, refuse } = reading
  if (isAbsent(node)) return
  if (!isMap(node)) return void refuse(node, 'targets', 'a group of targets, each with settings')
  for (const { name, key, value } of entriesOf(node)) {
    const values = new Map<string, WrittenValue>()
    targets?.set(name, values)
    if (!TARGET_NAME.test(name)) refuse(key, 'targets', 'named with letters, digits, _ and -')
    else if (isMap(value)) {
      readGroup({ ...reading, values, targets: null, path: `targets.${name}.` }, value, '')
      refuseBoth(refuse, values, value, `targets.${name}`)
    } else if (!isAbsent(value)) refuse(value, `targets.${name}`, 'a group of settings')
  }
}

function refuseBoth(refuse: Refuse, values: WrittenValues, group: YAMLMap, key: string): void {
  const hasLake = [...values.keys()].some((name) => name.startsWith('lake.'))
  if (!hasLake || !values.has('database')) return
  const hint = 'leave "database" out: the tables of a lake are in its store'
  const node = group.get('database', true) as Node
  refuse(node, key, 'a database file or a lake, not both', hint)
}

/** Variables of targets come last: they are compared with what the file declares, wherever it does. */
function declarationsOf(
  nodeOf: (key: string) => Node | null,
  targets: Iterable<string>,
  reader: Reader,
): Pick<Config, 'variables' | 'targetVariables' | 'sources'> {
  const variables = readVariables(nodeOf('vars'), 'vars', null, reader)
  const targetVariables = new Map(
    Array.from(targets, (target) => {
      const key = `targets.${target}.vars`
      return [target, readVariables(nodeOf(key), key, variables, reader)]
    }),
  )
  const sources = (environments: Environments, refuse: Refuse = () => null) => {
    const quiet = { ...reader, refuse }
    const secrets = readSecrets(nodeOf('secrets'), quiet, environments)
    return readSources(nodeOf('sources'), { ...quiet, environments, secrets })
  }
  // This is wrong in every environment.
  sources([], reader.refuse)
  return { variables, targetVariables, sources }
}

// It is also a directory name.
const TARGET_NAME = /^[A-Za-z0-9_-]+$/

function knownKeys({ targets }: Reading, prefix: string): readonly string[] {
  const own = [...OF_THEIR_OWN].filter((name) => targets !== null && name.includes('.'))
  const below = [...settingNames, ...own].filter((name) => name.startsWith(prefix))
  if (prefix !== '') return below
  const ofRoot = targets === null ? ['vars'] : keysOfFile
  return [...new Set([...ofRoot, ...below.map((name) => name.split('.')[0]!)])]
}

/** Without the line where it has a URL with a password, or one that may be a key: messages end up in logs. */
function shownSpan(at: Node | Span, key: string): Span {
  if ('start' in at) return at
  const text = isScalar(at) && typeof at.value === 'string' ? at.value : ''
  const isToken = key === 'openlineage.token'
  const isUrl = (key.startsWith('notify') || key === 'openlineage.url') && text.includes('://')
  return holdsPassword(text) || isUrl || isToken ? startOf(at) : spanOf(at)
}
