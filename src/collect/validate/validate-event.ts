// The validator: whatever passes is stored, and the flush can read whatever is stored.
//
// Three paths, each for what the one before does not accept. The fast path is one pass over the bytes (fast-path.ts).
// The second is JSON.parse, with one check of each column. The exact path decides the rest: it runs when a number is
// longer than a double can hold, when an escape may be half a character, when a name may repeat, or when the check of
// a column is not conclusive.
//
// The bytes are stored as they were sent; only single tokens that DuckDB would not read exactly are changed (to
// strings of the same digits). Columns with JSON whose numbers it would print in another way are there once more, as text
// after the event (withExact), where no member of the event can be taken for it.

import { exactKey, withExact } from '../../buffer/segment.ts'
import { limits } from '../../core/limits.ts'
import type { EventsModel } from '../../core/model.ts'
import { type Column, isReceivedAt } from '../../core/relation.ts'
import { didYouMean } from '../../core/suggest.ts'
import { isPrintedAlike } from './decimal-text.ts'
import { refusal } from '../errors.ts'
import { type JsonNode, printTree, readTree, walk } from './json-tree.ts'
import { type Scan, scanValue } from './json-scan.ts'
import { fastPathFor, type FastPath, quickEnd } from './fast-path.ts'
import type { Lookalikes, MisspeltFields } from './misspelt.ts'
import type { Edit, Findings, Rule } from './rule.ts'
import { ruleFor } from './value-rules.ts'

export interface ValidatedColumn extends Pick<Column, 'name' | 'type'> {
  readonly required: boolean
  readonly rule: Rule
}

export interface Validator {
  readonly columns: readonly ValidatedColumn[]
  /** Some column holds digits that a double may not. */
  readonly exact: boolean
  /** Some column keeps the spelling of numbers. */
  readonly spelled: boolean
  /** Some column is named like a property of all objects ("constructor"): only the exact path sees its absence. */
  readonly inherited: boolean
  readonly quick: FastPath | null
  readonly lookalikes: Lookalikes
}

/** Throws Error for a column type that has no rule. */
export const createValidator = (model: EventsModel): Validator =>
  validatorOf(
    model.columns.map((column) => {
      const { name, type, nullable } = column
      return { name, type, required: !nullable && !isReceivedAt(column) }
    }),
  )

/** As createValidator(). */
export function validatorOf(described: readonly Omit<ValidatedColumn, 'rule'>[]): Validator {
  const columns = described.map((column) => ({ ...column, rule: ruleFor(column.type) }))
  return {
    columns,
    quick: fastPathFor(columns),
    lookalikes: new Map(),
    exact: columns.some(({ rule }) => rule.exact),
    spelled: columns.some(({ rule }) => rule.spelled),
    inherited: columns.some(({ name }) => name in {}),
  }
}

/** A valid event: the bytes to store, from withExact() where necessary, and the offset in the body after it. */
export interface ValidEvent {
  readonly stored: Uint8Array
  readonly end: number
}

// Reused for every event; nothing in it outlives one.
const scan: Scan = {
  end: -1,
  depth: 0,
  names: 0,
  longNumber: false,
  respelled: false,
  surrogate: false,
}

/**
 * Validates the event that begins at `start` of a body that is UTF-8, and ends before `limit`. Throws RequestError; one
 * about a single field has it as `target`. `misspelt` gathers fields that are most likely typing mistakes.
 */
export function validateEvent(
  validator: Validator,
  body: Buffer,
  start: number,
  limit: number,
  maxEventBytes: number,
  misspelt: MisspeltFields | null = null,
): ValidEvent {
  if (body[start] !== 0x7b) throw notAnObject(body, start, limit)
  const quick = validator.quick === null ? -1 : quickEnd(validator.quick, body, start, limit)
  if (quick !== -1) {
    requireSize(quick - start, maxEventBytes, '')
    const isWhole = start === 0 && quick === body.length
    return { stored: isWhole ? body : body.subarray(start, quick), end: quick }
  }
  scanValue(body, start, limit, scan)
  if (scan.end === -1) throw invalidJson(body, start, limit)
  const { end } = scan
  requireSize(end - start, maxEventBytes, '')
  if (scan.depth > limits.eventDepth)
    throw refusal('too-deep', `the event is nested more than ${limits.eventDepth} levels deep`)
  const event = parseJson(body, start, end) as Record<string, unknown>
  if (isQuicklyFine(validator, event)) {
    misspelt?.note(validator, event)
    return { stored: body.subarray(start, end), end }
  }
  const stored = validateExactly(validator, body, start, end)
  requireSize(stored.length, maxEventBytes, ', with all digits of its numbers,')
  misspelt?.note(validator, event)
  return { stored, end }
}

function requireSize(sizeBytes: number, maxEventBytes: number, how: string): void {
  if (sizeBytes > maxEventBytes)
    throw refusal('event-too-large', `the event${how} is larger than ${maxEventBytes} bytes`)
}

function isQuicklyFine(validator: Validator, event: Record<string, unknown>): boolean {
  if (scan.surrogate || validator.inherited || (scan.longNumber && validator.exact)) return false
  if (scan.respelled && validator.spelled) return false
  if (countNames(event, scan.depth) !== scan.names) return false
  for (const { name, required, rule } of validator.columns) {
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

function validateExactly(
  validator: Validator,
  body: Buffer,
  start: number,
  end: number,
): Uint8Array {
  const tree = readTree(body, start)
  if (tree.is !== 'object') throw new Error('an event that is an object has become another value')
  walk(tree, refuseUnsoundText)
  const values = new Map(tree.members.map(({ name, node }) => [name, node]))
  const edits: Edit[] = []
  const texts = new Map<string, string>()
  for (const column of validator.columns) {
    const node = values.get(column.name)
    if (node !== undefined && node.is !== 'null') {
      const found: Findings = { edits: [], json: [] }
      const problem = column.rule.check(node, found)
      if (problem !== null) throw invalidValue(column, node, problem)
      // One by one: a call takes some 120,000 arguments, and a long list may have more.
      for (const edit of found.edits) edits.push(edit)
      if (found.json.some(isPrintedAnew))
        texts.set(exactKey(column), exactText(column, body, node, found))
    } else if (column.required) throw missingField(column, values, validator)
  }
  const event = applyEdits(body, start, end, edits)
  return texts.size === 0 ? event : withExact(event, texts)
}

/** Whether DuckDB prints a number of it in another way. */
function isPrintedAnew(node: JsonNode): boolean {
  let changes = false
  walk(node, (inner) => {
    changes ||= inner.is === 'number' && !isPrintedAlike(inner.token)
  })
  return changes
}

/** The value of a column as withExact() takes it. */
function exactText(
  { type }: ValidatedColumn,
  body: Buffer,
  node: JsonNode,
  found: Findings,
): string {
  if (type === 'JSON') return printTree(node)
  const asText = found.json.map((json) => ({
    start: json.start,
    end: json.end,
    text: JSON.stringify(printTree(json)),
  }))
  return applyEdits(body, node.start, node.end, [...found.edits, ...asText]).toString()
}

function refuseUnsoundText(node: JsonNode): void {
  if (node.is === 'string') refuseLoneSurrogate(node.value)
  if (node.is !== 'object') return
  const names = new Set<string>()
  for (const { name } of node.members) {
    refuseLoneSurrogate(name)
    if (names.has(name))
      throw refusal('duplicate-field', `the field "${name}" is given more than once`, {
        target: name,
      })
    names.add(name)
  }
}

function refuseLoneSurrogate(text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw refusal(
      'lone-surrogate',
      'a \\u escape is half of a surrogate pair, which is not a character',
    )
}

function invalidValue({ name, type }: ValidatedColumn, node: JsonNode, problem: string): Error {
  const was = node.is === 'number' ? ` ${shorten(node.token)}` : ''
  // What is wrong inside of it begins with its place: `field "a" must be …`.
  const demand = problem.startsWith('must ') ? `it ${problem}` : problem
  const message = `column "${name}" (${type}): the ${node.is}${was} does not fit; ${demand}`
  return refusal('invalid-value', message, { target: name })
}

/** The first of them in the message, and all in `details` where there are several. */
function missingField(
  { name, type }: ValidatedColumn,
  values: ReadonlyMap<string, JsonNode>,
  validator: Validator,
): Error {
  const known = new Set(validator.columns.map((column) => column.name))
  const unknown = [...values.keys()].filter((other) => !known.has(other))
  const isMissing = (column: string) => values.get(column) === undefined
  const hint = isMissing(name) ? didYouMean(name, unknown) : undefined
  const because = (column: string) => (isMissing(column) ? 'is missing' : 'is null')
  const sent =
    hint === undefined ? '' : `; the event has ${hint.replace(/^did you mean |\?$/g, '')}`
  const all = validator.columns.filter(
    (column) => column.required && (values.get(column.name)?.is ?? 'null') === 'null',
  )
  const details = all.map((column) => ({
    code: 'missing-field',
    message: `column "${column.name}" (${column.type}) is NOT NULL and ${because(column.name)}`,
    target: column.name,
  }))
  const others = all.filter((column) => column.name !== name).map((column) => `"${column.name}"`)
  const more = others.length === 0 ? '' : `; likewise ${others.join(', ')}`
  return refusal(
    'missing-field',
    `column "${name}" (${type}) is NOT NULL and ${because(name)}${sent}${more}`,
    { target: name, ...(all.length > 1 ? { details } : {}) },
  )
}

const shorten = (text: string) => (text.length > 60 ? `${text.slice(0, 60)}…` : text)

function applyEdits(body: Buffer, start: number, end: number, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return body.subarray(start, end)
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
    `an event is a JSON object, and this is ${kind ?? 'a bare value'}${kind === 'an array' ? '; send several events to the same path with /batch at the end' : ''}`,
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
    // From Node 22 on the line is named too, which is that of this one event.
    const message = (cause as SyntaxError).message.replace(/ \(line \d+ column \d+\)$/, '')
    const text = body.toString('utf8', start, Math.min(end, start + 60))
    const names = /^\s*\{\s*'?([A-Za-z_]\w*)'?\s*:/.exec(text)?.[1]
    const problem =
      names === undefined ? message : `names are written in double quotes: {"${names}":…`
    throw refusal('invalid-json', `this is not JSON: ${problem}`, { cause })
  }
}
