// A bound request for people: as indented text, one fact a line, and as data that JSON can hold. Sets, properties and types
// appear by name there, since they lead to each other in circles.

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

function stepLines(step: StepRelation): readonly string[] {
  switch (step.kind) {
    case 'filter':
      return [`where ${show(step.condition)}`]
    case 'project':
      return step.columns.map(showColumn)
    case 'group':
      return [
        ...step.keys.map((key) => `key ${showColumn(key)}`),
        ...step.aggregates.map(
          (total) => `total ${total.column}: ${showType(total.type)} = ${showTotal(total)}`,
        ),
      ]
    case 'window':
      return [
        ...partitionLines(step),
        `rows from ${step.skip} on${step.top === null ? '' : `, at most ${step.top}`}`,
      ]
    case 'running':
      return [
        ...partitionLines(step),
        `until the sum of ${show(step.value)} reaches ${show(step.limit)}${step.isPercent ? ' percent' : ''}`,
      ]
    case 'traverse':
      return [
        `${step.isPreorder ? 'each node before' : 'each node after'} those below it, of ${show(step.value)} in ${step.nodes.row.set.name}`,
        ...(step.order.length === 0 ? [] : [`order by ${showOrder(step.order)}`]),
        ...chosenLines(step),
        ...step.columns.map(showColumn),
      ]
    case 'above':
      return [
        `${step.place} = each node above ${show(step.value)} in ${step.nodes.row.set.name}, and it`,
        ...chosenLines(step),
        ...step.columns.map(showColumn),
      ]
    case 'relatives':
      return [
        ...groupLines(step.partition),
        `${show(step.value)} among ${showSteps(step, show(step.start.value), step.nodes)}`,
      ]
    case 'join':
      return [
        `${step.isOuter ? 'each row, and' : 'only rows'} with ${step.on.map(show).join(' and ') || 'each'}`,
        ...step.columns.map(showColumn),
      ]
  }
}

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
function show(expression: Expression): string {
  switch (expression.kind) {
    case 'null':
      return 'null'
    case 'constant':
      return expression.type.name === 'Edm.String'
        ? `'${expression.value.replaceAll("'", "''")}'`
        : `${expression.value}:${showType(expression.type)}`
    case 'property':
      return showColumnOf(expression.row, expression.property)
    case 'cast':
      return `as(${show(expression.operand)}):${showType(expression.type)}`
    case 'compare':
      return `(${show(expression.left)} ${expression.operator} ${show(expression.right)})`
    case 'in':
      return `(${show(expression.operand)} in ${shown(expression.list)})`
    case 'logical':
      return `(${expression.operands.map(show).join(` ${expression.operator} `)})`
    case 'not':
      return `not ${show(expression.operand)}`
    case 'call':
      if (expression.name === 'linked') return expression.operands.map(show).join(' eq ')
      return `${expression.name}${shown(expression.operands)}:${showType(expression.type)}`
    case 'case':
      return `case${list(expression.branches.map(({ condition, value }) => `${show(condition)}: ${show(value)}`))}`
    case 'member':
      return `${show(expression.of)}/${expression.name}`
    case 'item':
      return expression.alias
    case 'array':
      return `[${expression.items.map(show).join(', ')}]`
    case 'object':
      return `{${expression.members.map(({ name, value }) => `${name}: ${show(value)}`).join(', ')}}`
    case 'isNode':
      return `(${show(expression.value)} among ${showNodes(expression.nodes)})`
    case 'rowNumber':
      return `row number by ${showOrder(expression.order)}`
    default:
      return showSubquery(expression)
  }
}

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

type Subquery = Extract<
  Expression,
  { readonly source: unknown } | { readonly sources: unknown } | { readonly kind: 'reached' }
>

function showSubquery(expression: Subquery): string {
  switch (expression.kind) {
    case 'items': {
      const { source, condition, order, skip, top } = expression
      const sorted = order.length === 0 ? '' : ` order by ${showOrder(order)}`
      const cut = `${skip === 0 ? '' : ` skip ${skip}`}${top === null ? '' : ` top ${top}`}`
      return `items(${showSource(source)}${where(condition)}${sorted}${cut})`
    }
    case 'related':
      return `related(${showSource(expression.source)}: ${show(expression.value)})`
    case 'nth': {
      const { source, order, place, value } = expression
      return `nth(${showSource(source)} order by ${showOrder(order)}, place ${place}: ${show(value)})`
    }
    case 'gathered': {
      const { sources, key, value } = expression
      return `gathered(${sources.map(showSource).join(', ')}: ${show(value)} of each ${key.map(show).join(', ')})`
    }
    case 'total':
      return `total(${showSource(expression.source)}: ${showTotal(expression)}):${showType(expression.type)}`
    case 'reached': {
      const { row, condition, ours, theirs } = expression
      return `(${show(theirs)} eq first(${row.set.name} as ${row.alias}${where(condition)}: ${show(ours)}))`
    }
    case 'exists':
      return `${expression.quantifier}(${showSource(expression.source)}${where(expression.condition)})`
    case 'count':
      return `count(${showSource(expression.source)}${where(expression.condition)})`
  }
}

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
