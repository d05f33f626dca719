// A contract of the Open Data Contract Standard 3: what it promises of each set, and lines of headers that say the same.

import { isMap, isScalar, type Node } from 'yaml'
import type { Fresh, Model } from '../../core/model.ts'
import { annotationName, foldCase, type ModelName, parseModelName } from '../../core/names.ts'
import { itemsOf, spanOf, textOfNode } from '../../project/members.ts'
import {
  FIRST_VERSION,
  type LogicalType,
  logicalTypes,
  type Reading,
  type Said,
  type SaidColumn,
  type SaidOfModel,
} from '../format.ts'
import { type HeaderLine, headerLine, referencesLine, wordLines } from '../header.ts'
import { type Group, isTrue, itemsIn, leftOf, memberOf, textIn } from '../nodes.ts'
import { readRule, SHORT_NAME } from './quality.ts'
import { engineType } from './types.ts'

/** Members of which something is taken, or which say nothing that a model could say. */
const takenOfContract = [
  'apiVersion',
  'kind',
  'id',
  'name',
  'version',
  'status',
  'schema',
  'servers',
  'slaProperties',
  'team',
]
const takenOfSet = [
  'name',
  'physicalName',
  'logicalType',
  'physicalType',
  'description',
  'tags',
  'properties',
  'quality',
  'customProperties',
  'id',
]
const takenOfColumn = [
  'name',
  'logicalType',
  'physicalType',
  'description',
  'businessName',
  'required',
  'primaryKey',
  'primaryKeyPosition',
  'relationships',
  'customProperties',
  'quality',
  'id',
]

const EXPECTED_VERSION = 'v3.1.0, or another version that begins with v3'
const EXPECTED_SCHEMA = 'a list of sets, each with a name'
const EXPECTED_PROPERTIES = 'a list of columns, each with a name'

/** What one file is read with. */
interface OfFile extends Reading {
  readonly left: string[]
  readonly latencies: readonly Latency[]
  readonly owner: string | null
}

export function readContract(root: Group, reading: Reading): Said {
  const version = memberOf(root, 'apiVersion')
  if (textOfNode(version)?.startsWith('v3.') !== true)
    reading.refuse(version ?? root, 'apiVersion', EXPECTED_VERSION)
  const left = [...leftOf(root, takenOfContract, ''), ...leftOfContract(root, reading)]
  const schema = memberOf(root, 'schema')
  if (schema === null) reading.refuse(root, 'schema', EXPECTED_SCHEMA)
  const items = itemsOf(schema, 'schema', EXPECTED_SCHEMA, reading)
  const team = memberOf(root, 'team')
  // Where sets have owners of their own, the others have none.
  const isOwned = items.some((item) => isMap(item) && customOf(item as Group, 'owner') !== null)
  const owner = isOwned ? null : textIn(team, 'name')
  const latencies = latenciesOf(root, items.length === 1)
  const file = { ...reading, left, owner, latencies }
  const models = items.flatMap((item, i) => readSet(item, `schema.${i + 1}`, file) ?? [])
  left.push(...latencies.flatMap(({ path, waiting }) => (waiting.size > 0 ? [path] : [])))
  return { models, left }
}

/** Where an export says something else: which contract it is, servers of other systems, who is in a team. */
function leftOfContract(root: Group, reading: Reading): readonly string[] {
  const servers = itemsIn(memberOf(root, 'servers')).flatMap((server, i) =>
    textIn(server, 'type') === 'api' ? [] : [`servers.${i + 1}`],
  )
  const own = { id: reading.project, name: reading.project, version: FIRST_VERSION }
  const other = Object.entries(own).flatMap(([member, told]) =>
    (textIn(root, member) ?? told) === told ? [] : [member],
  )
  const status = textIn(root, 'status')
  const team = memberOf(root, 'team')
  const ofTeam = isMap(team)
    ? leftOf(team as Group, ['name'], 'team.')
    : team === null
      ? []
      : ['team']
  return [
    ...other,
    ...servers,
    ...(status === null || status === 'active' ? [] : ['status']),
    ...ofTeam,
  ]
}

/** Custom properties that no annotation stands for. */
const leftCustoms = (group: Group, known: readonly string[], path: string): readonly string[] =>
  itemsIn(memberOf(group, 'customProperties')).flatMap((node, i) =>
    known.includes(textIn(node, 'property') ?? '') ? [] : [`${path}.customProperties.${i + 1}`],
  )

function readSet(item: Node, path: string, file: OfFile): SaidOfModel | null {
  if (!isMap(item)) return file.refuse(item, path, 'a set with a name')
  const set = item as Group
  const nameNode = memberOf(set, 'name')
  const name = textOfNode(nameNode)
  if (name === null || nameNode === null) return file.refuse(item, `${path}.name`, 'a name')
  file.left.push(...leftOf(set, takenOfSet, `${path}.`), ...leftCustoms(set, ['owner'], path))
  const physical = textIn(set, 'physicalName')
  const newName = newNameOf(physical, name)
  const model =
    [physical, name, newName].map((one) => file.modelOf(one ?? '')).find((one) => one !== null) ??
    null
  const properties = itemsOf(
    memberOf(set, 'properties'),
    `${path}.properties`,
    EXPECTED_PROPERTIES,
    file,
  )
  const found = properties.flatMap(
    (property, i) => readColumn(property, `${path}.properties.${i + 1}`, file) ?? [],
  )
  refuseTwice(found, path, file)
  // Of a model of events that is not exposed nobody reads rows: it has no key to keep, and nothing is late.
  const isServed = model !== null && (model.expose !== null || model.kind !== 'events')
  if (!isServed)
    for (const { position, path: at } of found)
      if (position !== null) file.left.push(`${at}.primaryKey`)
  const lines = [
    ...headerLine('description', null, textIn(set, 'description')),
    ...headerLine('owner', null, customOf(set, 'owner') ?? file.owner),
    ...tagLines(set, file.left, path),
    ...headerLine('fresh', null, isServed ? latencyOf(name, model.fresh, file) : null),
    ...found.flatMap(({ lines: ofColumn }) => ofColumn),
    ...qualityLines(set, path, null, file, model),
  ]
  const key = found
    .flatMap(({ column, position }) => (position === null ? [] : [{ name: column.name, position }]))
    .toSorted((a, b) => a.position - b.position)
    .map((column) => column.name)
  return {
    model,
    newName,
    name,
    span: spanOf(nameNode),
    promise: { key: isServed ? key : [], columns: found.map(({ column }) => column) },
    lines,
  }
}

function refuseTwice(columns: readonly ReadColumn[], path: string, file: OfFile): void {
  const names = new Set<string>()
  for (const { column, path: at } of columns) {
    const name = foldCase(column.name)
    if (names.has(name)) file.refuse(column.span, `${at}.name`, `a name that ${path} has only once`)
    names.add(name)
  }
}

/** Its folder is a schema, and its name is one that needs no quotes anywhere. */
function newNameOf(physical: string | null, name: string): ModelName | null {
  const wanted = SHORT_NAME.test(physical ?? '') ? physical! : `raw.${name}`
  return SHORT_NAME.test(wanted) ? parseModelName(wanted) : null
}

interface ReadColumn {
  readonly path: string
  readonly column: SaidColumn
  /** In the key; null: it is not in it. */
  readonly position: number | null
  readonly lines: readonly HeaderLine[]
}

function readColumn(item: Node, path: string, file: OfFile): ReadColumn | null {
  if (!isMap(item)) return file.refuse(item, path, 'a column with a name')
  const group = item as Group
  const nameNode = memberOf(group, 'name')
  const name = textOfNode(nameNode)
  if (name === null || nameNode === null || /\p{Cc}/u.test(name))
    return file.refuse(nameNode ?? item, `${path}.name`, 'a name')
  file.left.push(
    ...leftOf(group, takenOfColumn, `${path}.`),
    ...leftCustoms(group, ['unit', 'format'], path),
  )
  const logicalNode = memberOf(group, 'logicalType')
  const logical = logicalTypes.find((type) => type === textOfNode(logicalNode)) ?? null
  if (logicalNode !== null && logical === null)
    file.refuse(logicalNode, `${path}.logicalType`, `one of ${logicalTypes.join(', ')}`)
  const physical = textIn(group, 'physicalType')
  const subject = annotationName(name)
  const column = {
    name,
    type: physical === null ? null : engineType(physical),
    logical: logical as LogicalType | null,
    required: isTrue(memberOf(group, 'required')),
    span: spanOf(nameNode),
  }
  const position = memberOf(group, 'primaryKeyPosition')
  const isKey = isTrue(memberOf(group, 'primaryKey'))
  return {
    path,
    column,
    position: isKey ? (isScalar(position) ? Number(position.value) || 1 : 1) : null,
    lines: [
      ...wordLines(subject, {
        description: textIn(group, 'description'),
        label: textIn(group, 'businessName'),
        unit: customOf(group, 'unit'),
        format: customOf(group, 'format'),
      }),
      ...referenceLines(group, path, name, file),
      ...qualityLines(group, path, name, file),
    ],
  }
}

function tagLines(set: Group, left: string[], path: string): readonly HeaderLine[] {
  const tags = itemsIn(memberOf(set, 'tags')).flatMap((tag) => textOfNode(tag) ?? [])
  const plain = tags.filter((tag) => /^[^\s,]+$/.test(tag))
  if (plain.length < tags.length) left.push(`${path}.tags`)
  return headerLine('tags', null, plain.join(', '))
}

function qualityLines(
  group: Group,
  path: string,
  column: string | null,
  file: OfFile,
  model: Model | null = null,
): readonly HeaderLine[] {
  return itemsIn(memberOf(group, 'quality')).flatMap((rule, i) => {
    // What a file of checks/ or YAML says is told to people alone.
    const isKept = model?.checks.some(
      ({ source, text }) => source !== undefined && text === textIn(rule, 'description'),
    )
    if (isKept && textIn(rule, 'type') === 'text') return []
    const at = `${path}.quality.${i + 1}`
    const { lines, left } = readRule(rule, column)
    file.left.push(...(left === null ? [at] : left.map((member) => `${at}.${member}`)))
    return lines.map((line) => ({ ...line, span: spanOf(rule) }))
  })
}

/** `to: set.column`, where the set is a model. */
function referenceLines(
  group: Group,
  path: string,
  column: string,
  file: OfFile,
): readonly HeaderLine[] {
  return itemsIn(memberOf(group, 'relationships')).flatMap((node, i) => {
    const to = textIn(node, 'to')
    const [, set = '', target = ''] = SHORT_NAME.exec(to ?? '') ?? []
    const model = file.modelOf(set)
    if (model !== null) return [referencesLine(column, model.name, target, spanOf(node))]
    file.left.push(`${path}.relationships.${i + 1}`)
    return []
  })
}

/** The last name is ours. */
const UNITS = [
  { names: ['d', 'day', 'days'], seconds: 86_400 },
  { names: ['h', 'hr', 'hour', 'hours'], seconds: 3_600 },
  { names: ['m', 'min', 'minute', 'minutes'], seconds: 60 },
  { names: ['s', 'sec', 'second', 'seconds'], seconds: 1 },
]

/** How late the rows of some sets may be. */
interface Latency {
  readonly path: string
  /** null: that cannot be said. */
  readonly seconds: number | null
  /** Names of sets that are still to take it; the empty one: the only one. */
  readonly waiting: Set<string>
}

function latenciesOf(root: Group, isOnly: boolean): readonly Latency[] {
  return itemsIn(memberOf(root, 'slaProperties')).map((node, i) => {
    const written = textIn(node, 'unit') ?? ''
    const unit = UNITS.find(({ names }) => names.includes(written))
    const element = textIn(node, 'element') ?? ''
    const value = isMap(node) ? memberOf(node as Group, 'value') : null
    const amount = isScalar(value) && Number.isInteger(value.value) ? Number(value.value) : null
    const isTaken =
      /^(?:latency|ly)$/i.test(textIn(node, 'property') ?? '') &&
      amount !== null &&
      amount > 0 &&
      unit !== undefined &&
      (element !== '' || isOnly)
    const sets = element.split(',').map((one) => one.trim().split('.')[0]!)
    const seconds = isTaken ? amount * unit.seconds : null
    return { path: `slaProperties.${i + 1}`, seconds, waiting: new Set(sets) }
  })
}

/** The first that a set is an element of, as `@fresh` takes it: in the words of the model, if it says the same. */
function latencyOf(name: string, fresh: Fresh | undefined, { latencies }: OfFile): string | null {
  for (const { seconds, waiting } of latencies) {
    const unit = UNITS.find((one) => seconds !== null && seconds % one.seconds === 0)
    const amount = unit === undefined ? null : seconds! / unit.seconds
    // The annotation has no more digits.
    if (amount === null || amount > 99_999) continue
    if (waiting.delete(name) || waiting.delete(''))
      return fresh?.seconds === seconds ? fresh!.text : `${amount} ${unit!.names.at(-1)!}`
  }
  return null
}

/** The value of one of the custom properties. */
function customOf(group: Group, property: string): string | null {
  for (const node of itemsIn(memberOf(group, 'customProperties')))
    if (textIn(node, 'property') === property) return textIn(node, 'value')
  return null
}
