// The door: what gets past it is stored, and what is stored the flush can read.
//
// Three ways, each for what the one before does not say yes to. The quickest is one pass over the bytes (quick-look.ts).
// The second is JSON.parse, with one look at each column. The exact way has the last word: it is taken when a number is
// longer than a double can hold, when an escape may be half a character, when a name may be repeated, or when the look at
// a column does not say yes.
//
// Stored are the bytes as they were sent; changed are only single tokens that the engine would not read exactly (to
// strings of the same digits), and values of JSON columns whose numbers it would print in another way are there once more,
// as text (EXACT_MEMBER).

import { limits } from '../core/limits.ts'
import type { EventsModel } from '../core/model.ts'
import { EXACT_MEMBER, exactColumns, isReceivedAt } from '../core/relation.ts'
import { didYouMean } from '../core/suggest.ts'
import { isPrintedAlike } from './decimal-text.ts'
import { refusal } from './errors.ts'
import { type JsonNode, printTree, readTree, walk } from './json-tree.ts'
import { type Scan, scanValue } from './json-scan.ts'
import { quickDoor, type QuickDoor, quickEnd } from './quick-look.ts'
import { type Edit, type Rule, ruleFor } from './value-rules.ts'

interface DoorColumn {
  readonly name: string
  readonly type: string
  readonly required: boolean
  readonly rule: Rule
  /** Is kept in EXACT_MEMBER where the engine would print a number in another way. */
  readonly spelled: boolean
}

export interface Door {
  readonly columns: readonly DoorColumn[]
  /** Some column holds digits that a double may not. */
  readonly exact: boolean
  /** Some column keeps the spelling of numbers. */
  readonly spelled: boolean
  /** Some column has a name that every JavaScript object has, such as "constructor": only the exact way sees its absence. */
  readonly inherited: boolean
  readonly quick: QuickDoor | null
}

/** Throws Error for a column type that has no rule. */
export function openDoor(model: EventsModel): Door {
  const spelled = exactColumns(model.columns)
  const columns = model.columns.map((column) => {
    const { name, type, nullable } = column
    const required = !nullable && !isReceivedAt(column)
    return { name, type, required, rule: ruleFor(type), spelled: spelled.includes(column) }
  })
  return {
    columns,
    quick: quickDoor(columns),
    exact: columns.some(({ rule }) => rule.exact),
    spelled: spelled.length > 0,
    inherited: columns.some(({ name }) => name in {}),
  }
}

/** An event that was let in: the bytes to store, and the offset in the body after it. */
export interface Admitted {
  readonly stored: Uint8Array
  readonly end: number
}

// Filled anew for every event; nothing of it is kept between two.
const scan: Scan = {
  end: -1,
  depth: 0,
  names: 0,
  longNumber: false,
  respelled: false,
  surrogate: false,
}

/**
 * Lets in the event that begins at `start` of a body that is UTF-8, and ends before `limit`. Throws RequestError; one
 * about a single field has it as `target`.
 */
export function admit(
  door: Door,
  body: Buffer,
  start: number,
  limit: number,
  maxEventBytes: number,
): Admitted {
  if (body[start] !== 0x7b) throw notAnObject(body, start, limit)
  const quick = door.quick === null ? -1 : quickEnd(door.quick, body, start, limit)
  if (quick !== -1) {
    requireSize(quick - start, maxEventBytes, '')
    return { stored: body.subarray(start, quick), end: quick }
  }
  scanValue(body, start, limit, scan)
  if (scan.end === -1) throw invalidJson(body, start, limit)
  const { end } = scan
  requireSize(end - start, maxEventBytes, '')
  if (scan.depth > limits.eventDepth)
    throw refusal('too-deep', `the event nests deeper than ${limits.eventDepth} levels`)
  const event = parseJson(body, start, end) as Record<string, unknown>
  if (isQuicklyFine(door, event)) return { stored: body.subarray(start, end), end }
  const stored = admitExactly(door, body, start, end)
  requireSize(stored.length, maxEventBytes, ', with all digits of its numbers,')
  return { stored, end }
}

function requireSize(sizeBytes: number, maxEventBytes: number, how: string): void {
  if (sizeBytes > maxEventBytes)
    throw refusal('event-too-large', `the event${how} is larger than ${maxEventBytes} bytes`)
}

function isQuicklyFine(door: Door, event: Record<string, unknown>): boolean {
  if (scan.surrogate || door.inherited || (scan.longNumber && door.exact)) return false
  if (scan.respelled && door.spelled) return false
  if (countNames(event, scan.depth) !== scan.names) return false
  for (const { name, required, rule } of door.columns) {
    const value = event[name]
    const fine = value == null ? !required : rule.accepts(value)
    if (!fine) return false
  }
  return true
}

/** Names of members that JSON.parse kept, over all objects. */
function countNames(value: object, depth: number): number {
  let count = Array.isArray(value) ? 0 : Object.keys(value).length
  if (depth === 1) return count
  for (const item of Object.values(value) as unknown[])
    if (typeof item === 'object' && item !== null) count += countNames(item, depth - 1)
  return count
}

function admitExactly(door: Door, body: Buffer, start: number, end: number): Uint8Array {
  const tree = readTree(body, start)
  if (tree.is !== 'object') throw new Error('an event that is an object has become another value')
  walk(tree, refuseUnsoundText)
  const values = new Map(tree.members.map(({ name, node }) => [name, node]))
  const edits: Edit[] = []
  const spelled: (readonly [string, JsonNode])[] = []
  for (const column of door.columns) {
    const node = values.get(column.name)
    if (column.spelled && node !== undefined && isPrintedAnew(node)) {
      spelled.push([column.name, node])
    } else if (node !== undefined && node.is !== 'null') {
      const problem = column.rule.check(node, edits)
      if (problem !== null) throw invalidValue(column, node, problem)
    } else if (column.required) throw missingField(column, node, values.keys(), door)
  }
  if (spelled.length > 0) edits.push(exactMember(spelled, values, end - 1))
  return edits.length === 0 ? body.subarray(start, end) : applyEdits(body, start, end, edits)
}

/** Whether the engine prints a number of it in another way. */
function isPrintedAnew(node: JsonNode): boolean {
  let anew = false
  walk(node, (inner) => {
    anew ||= inner.is === 'number' && !isPrintedAlike(inner.token)
  })
  return anew
}

/** A last member for the event, which ends at `at`. */
function exactMember(
  spelled: readonly (readonly [string, JsonNode])[],
  values: ReadonlyMap<string, JsonNode>,
  at: number,
): Edit {
  if (values.has(EXACT_MEMBER))
    throw refusal(
      'invalid-value',
      `the event has a number that a double changes and a field "${EXACT_MEMBER}", where its digits would be kept`,
      { target: EXACT_MEMBER },
    )
  const texts = spelled.map(([name, node]) => [name, printTree(node)])
  const text = `,"${EXACT_MEMBER}":${JSON.stringify(Object.fromEntries(texts))}`
  return { start: at, end: at, text }
}

function refuseUnsoundText(node: JsonNode): void {
  if (node.is === 'string') refuseLoneSurrogate(node.value)
  if (node.is !== 'object') return
  const names = new Set<string>()
  for (const { name } of node.members) {
    refuseLoneSurrogate(name)
    if (names.has(name))
      throw refusal('duplicate-field', `the field "${name}" comes twice`, { target: name })
    names.add(name)
  }
}

function refuseLoneSurrogate(text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw refusal(
      'lone-surrogate',
      'a \\u escape is half of a surrogate pair, which is no character',
    )
}

function invalidValue({ name, type }: DoorColumn, node: JsonNode, problem: string): Error {
  const was = node.is === 'number' ? ` ${shorten(node.token)}` : ''
  // What is wrong inside of it begins with its place: `field "a" must be …`.
  const demand = problem.startsWith('must ') ? `it ${problem}` : problem
  const message = `column "${name}" (${type}): the ${node.is}${was} does not fit; ${demand}`
  return refusal('invalid-value', message, { target: name })
}

function missingField(
  { name, type }: DoorColumn,
  node: JsonNode | undefined,
  names: Iterable<string>,
  door: Door,
): Error {
  const known = new Set(door.columns.map((column) => column.name))
  const unknown = [...names].filter((other) => !known.has(other))
  const hint = node === undefined ? didYouMean(name, unknown) : undefined
  const because = node === undefined ? 'is missing' : 'is null'
  const sent =
    hint === undefined ? '' : `; the event has ${hint.replace(/^did you mean |\?$/g, '')}`
  return refusal('missing-field', `column "${name}" (${type}) is NOT NULL and ${because}${sent}`, {
    target: name,
  })
}

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

function applyEdits(body: Buffer, start: number, end: number, edits: readonly Edit[]): Buffer {
  const parts: Uint8Array[] = []
  let at = start
  for (const edit of edits.toSorted((a, b) => a.start - b.start)) {
    parts.push(body.subarray(at, edit.start), Buffer.from(edit.text))
    at = edit.end
  }
  return Buffer.concat([...parts, body.subarray(at, end)])
}

function notAnObject(body: Buffer, start: number, limit: number): Error {
  if (start === limit) return refusal('invalid-json', 'the body is empty; send a JSON object')
  const kind = { 0x5b: 'an array', 0x22: 'a string' }[body[start]!]
  const looksLikeJson = kind !== undefined || /^(?:-?\d|true|false|null)/.test(peek(body, start))
  if (!looksLikeJson) return invalidJson(body, start, limit)
  return refusal(
    'not-an-object',
    `an event is a JSON object, and this is ${kind ?? 'a bare value'}`,
  )
}

const peek = (body: Buffer, start: number) => body.toString('latin1', start, start + 5)

function invalidJson(body: Buffer, start: number, limit: number): Error {
  try {
    parseJson(body, start, limit)
  } catch (error) {
    return error as Error
  }
  return refusal('invalid-json', 'the body is not JSON')
}

function parseJson(body: Buffer, start: number, end: number): unknown {
  try {
    return JSON.parse(body.toString('utf8', start, end))
  } catch (cause) {
    const { message } = cause as SyntaxError
    throw refusal('invalid-json', `this is not JSON: ${message}`, { cause })
  }
}
