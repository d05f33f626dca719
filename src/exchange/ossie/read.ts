// A semantic model of Apache Ossie as lines of headers: what it says of measures, dimensions and columns of models that are
// there. A relationship by one column is a check of references.

import { isMap, isScalar, type Node } from 'yaml'
import { isSymbol, nameOf, tokenize } from '../../compiler/sql/tokens.ts'
import { annotationName, foldCase } from '../../core/names.ts'
import { itemsOf, spanOf, textOfNode } from '../../project/members.ts'
import { inOneLine } from '../check-text.ts'
import type { Reading, Said, SaidOfModel } from '../format.ts'
import { type HeaderLine, headerLine, referencesLine, wordLines } from '../header.ts'
import { type Group, isTrue, itemsIn, leftOf, memberOf, textIn } from '../nodes.ts'

const takenOfModel = ['name', 'description', 'datasets', 'metrics', 'relationships']
const takenOfRelationship = ['name', 'from', 'to', 'from_columns', 'to_columns']
const takenOfDataset = ['name', 'source', 'primary_key', 'description', 'fields']
const takenOfField = [
  'name',
  'expression',
  'dimension',
  'label',
  'description',
  'custom_extensions',
]
const takenOfMetric = ['name', 'expression', 'description', 'custom_extensions']

const EXPECTED_MODELS = 'a list of semantic models, each with datasets'
const EXPECTED_DATASETS = 'a list of datasets, each with a name'

/** A dataset while its metrics are looked for. */
interface Dataset {
  readonly said: SaidOfModel
  readonly lines: HeaderLine[]
}

export function readSemanticModels(root: Group, reading: Reading): Said {
  const version = memberOf(root, 'version')
  // Without quotes YAML takes 0.2 for a number.
  if (!isScalar(version) || !String(version.value).startsWith('0.'))
    reading.refuse(version ?? root, 'version', '0.1.1, or another version that begins with 0')
  const left = leftOf(root, ['version', 'semantic_model', 'dialects', 'vendors'], '')
  const list = memberOf(root, 'semantic_model')
  const items = itemsOf(list, 'semantic_model', EXPECTED_MODELS, reading)
  const models = items.flatMap((item, i) => {
    const path = `semantic_model.${i + 1}`
    if (!isMap(item)) return reading.refuse(item, path, EXPECTED_MODELS) ?? []
    return readModel(item as Group, path, { ...reading, left })
  })
  return { models, left }
}

interface OfModel extends Reading {
  readonly left: string[]
}

function readModel(group: Group, path: string, file: OfModel): readonly SaidOfModel[] {
  file.left.push(...leftOf(group, takenOfModel, `${path}.`))
  const list = memberOf(group, 'datasets')
  const items = itemsOf(list, `${path}.datasets`, EXPECTED_DATASETS, file)
  const datasets = items.flatMap(
    (item, i) => readDataset(item, `${path}.datasets.${i + 1}`, file) ?? [],
  )
  for (const [i, metric] of itemsIn(memberOf(group, 'metrics')).entries()) {
    const at = `${path}.metrics.${i + 1}`
    if (!readMetric(metric, at, datasets, file)) file.left.push(at)
  }
  for (const [i, relationship] of itemsIn(memberOf(group, 'relationships')).entries()) {
    const at = `${path}.relationships.${i + 1}`
    if (!readRelationship(relationship, at, datasets, file)) file.left.push(at)
  }
  return datasets.map(({ said, lines }) => ({ ...said, lines: [...said.lines, ...lines] }))
}

function readDataset(item: Node, path: string, file: OfModel): Dataset | null {
  const nameNode = isMap(item) ? memberOf(item as Group, 'name') : null
  const name = textOfNode(nameNode)
  if (!isMap(item) || nameNode === null || name === null)
    return file.refuse(nameNode ?? item, `${path}.name`, 'a name')
  const group = item as Group
  file.left.push(...leftOf(group, takenOfDataset, `${path}.`))
  const source = textIn(group, 'source')?.split('.').slice(-2).join('.') ?? ''
  const model = file.modelOf(name) ?? file.modelOf(source)
  const fields = itemsIn(memberOf(group, 'fields')).flatMap((field, i) => {
    const at = `${path}.fields.${i + 1}`
    const read = readField(field, at, file)
    if (read === null) file.left.push(at)
    return read ?? []
  })
  const [time, ...others] = fields.filter(({ isTime }) => isTime)
  const dimensions = fields
    .filter((field) => field.isDimension || others.includes(field))
    .map(({ subject }) => subject)
  const lines = [
    ...headerLine('description', null, textIn(group, 'description')),
    ...headerLine('time', null, time?.subject ?? null),
    ...(isSameSet(dimensions, model?.meaning?.dimensions ?? [])
      ? []
      : headerLine('dimension', null, dimensions.join(', '))),
    ...fields.flatMap((field) => field.lines),
  ]
  const said = { model, newName: null, name, span: spanOf(nameNode), promise: null, lines }
  return { said, lines: [] }
}

/** Their order says nothing, nor does in how many lines they stand. */
function isSameSet(subjects: readonly string[], columns: readonly string[]): boolean {
  const known = new Set(columns.map((name) => foldCase(annotationName(name))))
  return known.size === subjects.length && subjects.every((one) => known.has(foldCase(one)))
}

interface ReadField {
  readonly subject: string
  readonly isTime: boolean
  readonly isDimension: boolean
  readonly lines: readonly HeaderLine[]
}

/** null: it is computed, and a model has columns. */
function readField(item: Node, path: string, file: OfModel): ReadField | null {
  if (!isMap(item)) return null
  const group = item as Group
  const name = textIn(group, 'name')
  const expression = expressionOf(group)
  const isColumn = name !== null && (expression === null || nameIn(expression) === foldCase(name))
  if (!isColumn || /\p{Cc}/u.test(name)) return null
  file.left.push(...leftOf(group, takenOfField, `${path}.`))
  const dimension = memberOf(group, 'dimension')
  const isTime = isMap(dimension) && isTrue(memberOf(dimension as Group, 'is_time'))
  const subject = annotationName(name)
  const { unit, format, also } = ownOf(group)
  const isDimension = isMap(dimension) && (!isTime || also === 'dimension')
  const [description, label] = [textIn(group, 'description'), textIn(group, 'label')]
  const lines = wordLines(subject, { description, label, unit, format })
  return { subject, isTime, isDimension, lines }
}

/** False: a side is no model here, or it is by several columns. */
function readRelationship(
  item: Node,
  path: string,
  datasets: readonly Dataset[],
  file: OfModel,
): boolean {
  if (!isMap(item)) return false
  const group = item as Group
  const side = (member: string) => {
    const name = textIn(group, member)
    return datasets.find(({ said }) => said.name === name)
  }
  const columns = (member: string) => itemsIn(memberOf(group, member)).map(textOfNode)
  const [from, to] = [side('from'), side('to')?.said.model]
  const [column, ...more] = columns('from_columns')
  const [target, ...others] = columns('to_columns')
  if (from === undefined || to == null || column == null || target == null) return false
  if (more.length > 0 || others.length > 0) return false
  file.left.push(...leftOf(group, takenOfRelationship, `${path}.`))
  from.lines.push(referencesLine(column, to.name, target, spanOf(item)))
  return true
}

/** False: nothing stands for it. */
function readMetric(
  item: Node,
  path: string,
  datasets: readonly Dataset[],
  file: OfModel,
): boolean {
  if (!isMap(item)) return false
  const group = item as Group
  const own = ownOf(group)
  const sql = expressionOf(group)
  const name = own['measure'] ?? textIn(group, 'name')
  if (sql === null || name === null || name === undefined || /\p{Cc}/u.test(name)) return false
  const found = withoutDataset(sql, datasets, own['sql'] === sql ? own['dataset'] : undefined)
  if (found === null) return false
  file.left.push(...leftOf(group, takenOfMetric, `${path}.`))
  const subject = annotationName(name)
  const isTaken = ({ annotation, subject: of }: HeaderLine) =>
    annotation === 'measure' && foldCase(of ?? '') === foldCase(subject)
  if (found.dataset.lines.some(isTaken)) {
    file.refuse(
      memberOf(group, 'name') ?? item,
      `${path}.name`,
      'a name that its set has only once',
    )
    return true
  }
  // The words of the author, unless another tool has written other ones since.
  const written = own['sql'] === sql && own['text'] ? own['text'] : null
  const value = inOneLine(written ?? found.text)
  if (value === null) return false
  found.dataset.lines.push(
    {
      annotation: 'measure',
      subject,
      value,
      sql: 'told',
      span: spanOf(item),
      ...(written !== null && { means: found.text }),
    },
    ...wordLines(subject, {
      description: textIn(group, 'description'),
      label: own['label'],
      unit: own['unit'],
      format: own['format'],
    }),
  )
  return true
}

/** In standard SQL; null: there is none. */
function expressionOf(group: Group): string | null {
  const expression = memberOf(group, 'expression')
  if (!isMap(expression)) return null
  for (const item of itemsIn(memberOf(expression as Group, 'dialects')))
    if (textIn(item, 'dialect') === 'ANSI_SQL') return textIn(item, 'expression')
  return null
}

/** The name that an expression is, if it is one. */
function nameIn(expression: string): string | null {
  const [token, ...more] = tokenize(expression)
  const name = more.length === 0 ? nameOf(token) : null
  return name === null ? null : foldCase(name)
}

/** An expression over one dataset, and that. null: it is over several, or it is not told over which. */
function withoutDataset(
  sql: string,
  datasets: readonly Dataset[],
  told: string | undefined,
): { readonly dataset: Dataset; readonly text: string } | null {
  const tokens = tokenize(sql)
  // In one line a comment would swallow what follows it, and a text would be another one.
  const isOneLine = tokens.every(
    ({ kind, text }) => !['comment', 'open'].includes(kind) && !/[\r\n]/.test(text),
  )
  if (!isOneLine) return null
  const found = new Set<Dataset>()
  let text = ''
  let at = 0
  for (const [i, token] of tokens.entries()) {
    const name = nameOf(token)
    if (name === null || !isSymbol(tokens[i + 1], '.') || isSymbol(tokens[i - 1], '.')) continue
    const dataset = datasets.find(({ said }) => foldCase(said.name) === foldCase(name))
    if (dataset === undefined) continue
    found.add(dataset)
    text += sql.slice(at, token.start)
    at = tokens[i + 2]?.start ?? sql.length
  }
  const only = datasets.length === 1 ? datasets[0] : datasets.find(({ said }) => said.name === told)
  const [dataset = only] = found
  if (dataset === undefined || found.size > 1) return null
  return { dataset, text: text + sql.slice(at) }
}

/** What was written for the program itself. */
function ownOf(group: Group): Readonly<Record<string, string | undefined>> {
  for (const item of itemsIn(memberOf(group, 'custom_extensions'))) {
    const data = textIn(item, 'data')
    const own = data === null ? null : ownIn(data)
    if (own !== null) return own
  }
  return {}
}

function ownIn(data: string): Readonly<Record<string, string>> | null {
  try {
    const { eider } = JSON.parse(data) as { readonly eider?: unknown }
    if (typeof eider !== 'object' || eider === null) return null
    return Object.fromEntries(
      Object.entries(eider).filter(
        (entry): entry is [string, string] => typeof entry[1] === 'string',
      ),
    )
  } catch {
    return null // of another tool
  }
}
