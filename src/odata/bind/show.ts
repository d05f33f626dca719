// A bound request for people: as indented text, one fact a line, and as data that JSON can hold. Sets, properties and types
// appear by name there, since they lead to each other in circles.

import { byKind } from '../../core/by-kind.ts'
import type { BoundQuery, BoundRequest, Expansion, OutputProperty } from './bound-request.ts'
import type {
  ChosenNodes,
  Expression,
  ItemSource,
  KeyLink,
  NodeRows,
  NodeSet,
  ColumnValue,
  OrderItem,
  Relation,
  RowSource,
  RowVariable,
  StepRelation,
  Total,
} from './bound.ts'
import type { Property } from '../edm/model.ts'
import type { EdmType } from '../edm/types.ts'

export function showRequest(request: BoundRequest): string {
  if (!('query' in request)) return request.kind
  const { kind, query, parent } = request
  // Nothing of a row that is only counted is written.
  const asked = kind === 'count' ? { ...query, output: [] } : query
  const lines: string[] = [kind, ...indented(queryLines(asked))]
  if (parent !== null) lines.push('of the entity', ...indented(queryLines(parent)))
  return lines.join('\n')
}

const indented = (lines: readonly string[]) => lines.map((line) => `  ${line}`)

function queryLines(query: BoundQuery): readonly string[] {
  const { relation, row, output, expand, filter, order, withCount, skip, top } = query
  return [
    ...relationLines('from', relation, row),
    ...(filter === null ? [] : [`filter ${show(filter)}`]),
    ...(order.length === 0 ? [] : [`order by ${showOrder(order)}`]),
    ...(skip === 0 ? [] : [`skip ${skip}`]),
    ...(top === null ? [] : [`top ${top}`]),
    ...(withCount ? ['with the count'] : []),
    ...outputLines(output),
    ...expand.flatMap(expansionLines),
    `context #${query.contextFragment}`,
  ]
}

/** Properties as they are stored appear by name, several in one line. */
function outputLines(output: readonly OutputProperty[]): readonly string[] {
  const lines: string[] = []
  const plain: string[] = []
  const endLine = () => {
    if (plain.length > 0) lines.push(`output ${plain.splice(0).join(', ')}`)
  }
  for (const property of output) {
    const { name, value, path, mark } = property
    const isPlain = value.kind === 'property' && value.property.column.name === name
    if (isPlain && path === undefined && mark === undefined) plain.push(name)
    else {
      endLine()
      lines.push(`output ${showOutput(property)}`)
    }
  }
  endLine()
  return lines
}

function showOutput({ name, type, value, path = [name], mark }: OutputProperty): string {
  const marked = mark === undefined ? '' : ` where ${show(mark)}`
  return `${path.join('/')}: ${showType(type)} = ${show(value)}${marked}`
}

function expansionLines(expansion: Expansion): string[] {
  const { name, within = [], many, countOnly, link, outer, query, mark } = expansion
  const what = countOnly ? 'count' : many ? 'entities' : 'entity'
  return [
    `expand ${[...within, name].join('/')}: ${what} with ${showLink(link, query.row)}${mark === undefined ? '' : ` where ${show(mark)}`}`,
    ...indented([
      ...outer.map((each) => `hand down ${showOutput(each)}`),
      ...queryLines(countOnly ? { ...query, output: [] } : query),
    ]),
  ]
}

const showLink = ({ ours, theirs }: KeyLink, row: RowVariable) =>
  `${showColumnOf(row, theirs)} eq ${show(ours)}`

const showColumnOf = ({ alias }: RowVariable, { column }: Property) => `${alias}.${column.name}`

/** The relation, and below it those that it is made from. */
function relationLines(word: string, relation: Relation, row: RowVariable): readonly string[] {
  const as = `as ${row.alias}`
  switch (relation.kind) {
    case 'set':
      return [`${word} ${relation.set.name} ${as}`]
    case 'cross':
      return [
        `${word} every combination ${as}`,
        ...indented([
          ...relation.parts.map(({ alias, set }) => `of ${set.name} as ${alias}`),
          ...relation.columns.map(showColumn),
        ]),
      ]
    case 'nodes':
      return [`${word} each node in ${relation.nodes.row.set.name} ${as}`, ...chosenLines(relation)]
    case 'union':
      return [
        `${word} one after the other ${as}`,
        ...indented(relation.parts.flatMap((part) => relationLines('part', part, row))),
      ]
    default:
      return [
        `${word} ${relation.kind} ${as}`,
        ...indented([
          ...stepLines(relation),
          ...relationLines('from', relation.from, relation.row),
          ...('start' in relation
            ? relationLines('start', relation.start.rows, relation.start.row)
            : []),
          ...(relation.kind === 'join'
            ? relationLines('with', relation.other, relation.otherRow)
            : []),
        ]),
      ]
  }
}

const stepLines = byKind<StepRelation, readonly string[]>({
  filter: ({ condition }) => [`where ${show(condition)}`],
  project: ({ columns }) => columns.map(showColumn),
  group: ({ keys, aggregates }) => [
    ...keys.map((key) => `key ${showColumn(key)}`),
    ...aggregates.map(
      (total) => `total ${total.column}: ${showType(total.type)} = ${showTotal(total)}`,
    ),
  ],
  window: (step) => [
    ...partitionLines(step),
    `rows from ${step.skip} on${step.top === null ? '' : `, at most ${step.top}`}`,
  ],
  running: (step) => [
    ...partitionLines(step),
    `until the sum of ${show(step.value)} reaches ${show(step.limit)}${step.isPercent ? ' percent' : ''}`,
  ],
  traverse: (step) => [
    `${step.isPreorder ? 'each node before' : 'each node after'} those below it, of ${show(step.value)} in ${step.nodes.row.set.name}`,
    ...(step.order.length === 0 ? [] : [`order by ${showOrder(step.order)}`]),
    ...chosenLines(step),
    ...step.columns.map(showColumn),
  ],
  above: (step) => [
    `${step.place} = each node above ${show(step.value)} in ${step.nodes.row.set.name}, and it`,
    ...chosenLines(step),
    ...step.columns.map(showColumn),
  ],
  relatives: (step) => [
    ...groupLines(step.partition),
    `${show(step.value)} among ${showSteps(step, show(step.start.value), step.nodes)}`,
  ],
  join: (step) => [
    `${step.isOuter ? 'each row, and' : 'only rows'} with ${step.on.map(show).join(' and ') || 'each'}`,
    ...step.columns.map(showColumn),
  ],
})

const partitionLines = ({
  partition,
  order,
}: StepRelation & { readonly kind: 'window' | 'running' }) => [
  ...groupLines(partition),
  `order by ${showOrder(order)}`,
]

const groupLines = (partition: readonly Expression[]): readonly string[] =>
  partition.length === 0 ? [] : [`in each ${partition.map(show).join(', ')}`]

const showColumn = ({ column, value }: ColumnValue) => `${column} = ${show(value)}`

const showOrder = (order: readonly OrderItem[]) =>
  order.map(({ value, descending }) => `${show(value)}${descending ? ' desc' : ''}`).join(', ')

const showTotal = ({ method, value }: Total) => `${method}(${value === null ? '' : show(value)})`

const showType = ({ name, precision, scale, members }: EdmType): string => {
  if (members !== null) return `${name}[${members.join(',')}]`
  return name === 'Edm.Decimal' ? `${name}(${precision},${scale})` : name
}

/** In the words of OData where it has some; a call with its type, which says how DuckDB calculates. */
const show: (expression: Expression) => string = byKind({
  null: () => 'null',
  constant: ({ type, value }) =>
    type.name === 'Edm.String' ? `'${value.replaceAll("'", "''")}'` : `${value}:${showType(type)}`,
  property: ({ row, property }) => showColumnOf(row, property),
  cast: ({ operand, type }) => `as(${show(operand)}):${showType(type)}`,
  compare: ({ left, operator, right }) => `(${show(left)} ${operator} ${show(right)})`,
  in: ({ operand, list }) => `(${show(operand)} in ${shown(list)})`,
  logical: ({ operands, operator }) => `(${operands.map(show).join(` ${operator} `)})`,
  not: ({ operand }) => `not ${show(operand)}`,
  call: ({ name, operands, type }) =>
    name === 'linked'
      ? operands.map(show).join(' eq ')
      : `${name}${shown(operands)}:${showType(type)}`,
  case: ({ branches }) =>
    `case${list(branches.map(({ condition, value }) => `${show(condition)}: ${show(value)}`))}`,
  member: ({ of, name }) => `${show(of)}/${name}`,
  item: ({ alias }) => alias,
  array: ({ items }) => `[${items.map(show).join(', ')}]`,
  object: ({ members }) =>
    `{${members.map(({ name, value }) => `${name}: ${show(value)}`).join(', ')}}`,
  isNode: ({ value, nodes }) => `(${show(value)} among ${showNodes(nodes)})`,
  rowNumber: ({ order }) => `row number by ${showOrder(order)}`,
  items({ source, condition, order, skip, top }) {
    const sorted = order.length === 0 ? '' : ` order by ${showOrder(order)}`
    const cut = `${skip === 0 ? '' : ` skip ${skip}`}${top === null ? '' : ` top ${top}`}`
    return `items(${showSource(source)}${where(condition)}${sorted}${cut})`
  },
  related: ({ source, value }) => `related(${showSource(source)}: ${show(value)})`,
  nth: ({ source, order, place, value }) =>
    `nth(${showSource(source)} order by ${showOrder(order)}, place ${place}: ${show(value)})`,
  gathered: ({ sources, key, value }) =>
    `gathered(${sources.map(showSource).join(', ')}: ${show(value)} of each ${key.map(show).join(', ')})`,
  total: (total) =>
    `total(${showSource(total.source)}: ${showTotal(total)}):${showType(total.type)}`,
  reached: ({ row, condition, ours, theirs }) =>
    `(${show(theirs)} eq first(${row.set.name} as ${row.alias}${where(condition)}: ${show(ours)}))`,
  exists: ({ quantifier, source, condition }) =>
    `${quantifier}(${showSource(source)}${where(condition)})`,
  count: ({ source, condition }) => `count(${showSource(source)}${where(condition)})`,
})

const showRows = ({ row, node, parent }: NodeRows) =>
  `${row.set.name} by ${node.name} and ${parent.name}`

function showNodes(nodes: NodeSet): string {
  if (!('start' in nodes)) return `${nodes.which}s of ${showRows(nodes.of)}`
  const start = show(nodes.start)
  if (nodes.which === 'sibling') return `siblings of ${start} in ${showRows(nodes.of)}`
  return showSteps(nodes, start, nodes.of)
}

function showSteps(
  { which, distance, withStart }: Pick<Relatives, 'which' | 'distance' | 'withStart'>,
  start: string,
  of: NodeRows,
): string {
  const most = distance === null ? '' : `, at most ${distance} away`
  return `${which}s of ${start}${withStart ? ' and itself' : ''} in ${showRows(of)}${most}`
}

type Relatives = StepRelation & { readonly kind: 'relatives' }

const chosenLines = ({ chosen }: { readonly chosen: ChosenNodes | null }): readonly string[] =>
  chosen === null
    ? []
    : [
        `by ${chosen.node.column.name} in the order of ${showOrder(chosen.order)}`,
        ...indented(relationLines('of', chosen.rows, chosen.row)),
      ]

const list = (texts: readonly string[]) => `(${texts.join(', ')})`
const shown = (expressions: readonly Expression[]) => list(expressions.map(show))

const where = (condition: Expression | null) =>
  condition === null ? '' : ` where ${show(condition)}`

function showSource(source: RowSource | ItemSource): string {
  if (source.kind === 'items') return `${show(source.list)} as ${source.alias}`
  const { row, link, key, relation } = source
  const name = relation === undefined || relation.kind === 'set' ? row.set.name : '$these'
  const on = link === null ? '' : ` with ${showLink(link, row)}`
  return `${name} as ${row.alias}${on}${where(key)}`
}

/** The request as data for other programs, with nothing but texts, numbers, lists and records in it. */
export const plainRequest = (request: BoundRequest): unknown =>
  JSON.parse(JSON.stringify(request, named))

/** What the entity model knows has a name; all else is written as it is. */
function named(key: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (key === 'type' && 'engine' in value) return showType(value as unknown as EdmType)
  if (key === 'set' || key === 'property' || key === 'theirs' || key === 'navigation')
    return nameOf(value)
  return value
}

function nameOf(value: object): unknown {
  if (Array.isArray(value)) return value.map((each: object) => nameOf(each))
  return 'kind' in value || !('name' in value) ? value : value.name
}
