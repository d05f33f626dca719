// Functions of one value, the others being constants: a table that has what they give as a column, or as a group, is kept
// up to date by it. A greater value may lead to a smaller one, so they are no steps of ranges.

import type { TrailStep } from '../../core/addresses.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'

interface Call {
  /** Types of the value. Of others the engine makes one of these first, which no step tells. */
  readonly takes: RegExp
  /** The type of what it gives. */
  readonly gives: string
}

const TIMES = /^(?:DATE|TIMESTAMP(?:_\w+| WITH TIME ZONE)?)$/
const TEXTS = /^VARCHAR$/

const each = (names: string, call: Call): readonly (readonly [string, Call])[] =>
  names.split(' ').map((name) => [name, call])

/** What they give depends on their arguments alone. */
const CALLS: ReadonlyMap<string, Call> = new Map([
  ...each(
    'year isoyear quarter month week weekofyear yearweek day dayofmonth dayofyear dayofweek weekday isodow hour minute',
    { takes: TIMES, gives: 'BIGINT' },
  ),
  ...each('strftime monthname dayname', { takes: TIMES, gives: 'VARCHAR' }),
  ...each('lower lcase upper ucase trim ltrim rtrim left right substr substring', {
    takes: TEXTS,
    gives: 'VARCHAR',
  }),
])

/** Macros of such names would be called in their place. */
export const isCall = (name: string): boolean => CALLS.has(name) || PART_OF.has(name)

/** Such a call names one of the others, as `extract(year FROM ts)` does. */
export const PART_OF: ReadonlySet<string> = new Set(['date_part', 'extract'])

/** null: it is something else. */
export function stepByCall(
  node: SyntaxNode,
): { readonly of: SyntaxNode; readonly does: TrailStep } | null {
  const children = (node['children'] ?? []) as readonly SyntaxNode[]
  const [first, second] = children
  if (first === undefined) return null
  if (node['type'] === 'OPERATOR_COALESCE') {
    const otherwise = second === undefined ? null : constantOf(second)
    if (typeof otherwise !== 'string' || children.length > 2) return null
    return { of: first, does: { otherwise } }
  }
  if (node['class'] !== 'FUNCTION' || !['', 'main'].includes(String(node['schema']))) return null
  const name = String(node['function_name'])
  if (name === 'date_part') {
    const part = String(constantOf(first)).toLowerCase()
    const isNamed = CALLS.get(part)?.gives === 'BIGINT' && children.length === 2
    return isNamed ? { of: second!, does: { call: part, with: [] } } : null
  }
  const constants = children.slice(1).map(constantOf)
  if (!CALLS.has(name) || constants.includes(null)) return null
  return { of: first, does: { call: name, with: constants as readonly (string | number)[] } }
}

function constantOf(node: SyntaxNode): string | number | null {
  if (node['class'] !== 'CONSTANT') return null
  const { is_null: isNull, type, value } = node['value'] as SyntaxNode
  const id = (type as SyntaxNode)['id']
  return isNull !== true && (id === 'VARCHAR' || id === 'INTEGER')
    ? (value as string | number)
    : null
}

/** The type of what the steps make of a value of that type; null: a function would get another one than it takes. */
export function typeAfter(type: string, steps: readonly TrailStep[]): string | null {
  let found = type
  for (const step of steps) {
    if ('cast' in step) found = step.cast
    else if ('otherwise' in step) {
      if (!TEXTS.test(found)) return null
    } else if ('call' in step) {
      const call = CALLS.get(step.call)
      if (call === undefined || !call.takes.test(found)) return null
      found = call.gives
      // A time that is cut stays one, of one type or another.
    } else if (!TIMES.test(found)) found = ''
  }
  return found
}

/** One that only exact trails have. */
export const isCalling = (step: TrailStep): boolean => 'call' in step || 'otherwise' in step
