// The validator: each event that passes is stored, and the flush can read all that is stored.
//
// An event is read once (scan-event.ts). Then the rule of each column looks at the span of its value: nearly always all
// values are fine as they were sent. If one is not, all rules look again and name the changes, or what is wrong.
//
// The bytes are stored as they were sent; only single tokens that DuckDB would not read exactly are changed (to
// strings of the same digits). Columns with JSON whose numbers it would print in another way are there once more, as text
// after the event (withExact), where no member of the event can be taken for it.

import { exactKey, withExact } from '../../buffer/segment.ts'
import { limits } from '../../core/limits.ts'
import type { EventsModel } from '../../core/model.ts'
import { type Column, isReceivedAt } from '../../core/relation.ts'
import { didYouMean } from '../../core/suggest.ts'
import { parseType } from '../../core/type-syntax.ts'
import { refusal } from '../errors.ts'
import type { Lookalikes, MisspeltFields } from './misspelt.ts'
import { jsonMistake } from './json-mistakes.ts'
import { type Nested, nestedOf, noteNested } from './nested-fields.ts'
import type { Changes, Edit, Rule } from './rule.ts'
import { type ColumnNames, columnNames, EventScan, measureBrackets } from './scan-event.ts'
import { BOOLEAN, KIND_NAMES, NULL, NUMBER, OBJECT, STRING } from './spans.ts'
import { holdsJson, ruleOf } from './value-rules.ts'

export interface ValidatedColumn extends Pick<Column, 'name' | 'type'> {
  readonly required: boolean
  readonly rule: Rule
  /** The kind of which every value is fine, so that the rule need not be asked; -1 for none. */
  readonly always: number
  /** A value that is fine as it was sent needs no change either where the others are looked at again. */
  readonly isSame: boolean
  /** Its type, where a STRUCT is in it. */
  readonly nested: Nested | null
}

export interface Validator {
  readonly columns: readonly ValidatedColumn[]
  readonly names: ColumnNames
  /** Some column keeps the spelling of numbers. */
  readonly spelled: boolean
  readonly lookalikes: Lookalikes
  /** Names that columns had, which a flush still reads. */
  readonly former: readonly string[]
}

/** Throws Error for a column type that has no rule. */
export const createValidator = (model: EventsModel): Validator =>
  validatorOf(
    model.columns.map((column) => {
      const { name, type, nullable } = column
      return { name, type, required: !nullable && !isReceivedAt(column) }
    }),
    model.renames.map(({ from }) => from),
  )

/** `former`: names that columns had. Throws Error for a column type that has no rule. */
export function validatorOf(
  described: readonly Pick<ValidatedColumn, 'name' | 'type' | 'required'>[],
  former: readonly string[],
): Validator {
  const types = described.map(({ type }) => parseType(type))
  const columns = described.map(({ name, type, required }, i) => ({
    name,
    type,
    required,
    rule: ruleOf(types[i]!),
    always: type === 'VARCHAR' ? STRING : type === 'BOOLEAN' ? BOOLEAN : -1,
    isSame: /^(?:DOUBLE|FLOAT|JSON)$/.test(type),
    nested: nestedOf(types[i]!),
  }))
  return {
    columns,
    names: columnNames(
      columns.map(({ name }) => name),
      limits.otherFieldNames,
    ),
    spelled: types.some(holdsJson),
    lookalikes: new Map(),
    former,
  }
}

/** A valid event: the bytes to store, from withExact() where necessary, and the offset in the body after it. */
interface ValidEvent {
  readonly stored: Uint8Array
  readonly end: number
}

// Reused for every event; nothing in it outlives one.
const scan = new EventScan()
const { spans } = scan
const NO_COLUMNS = columnNames([])

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
  if (body[start] !== 0x7b) throw notAnObject(body, start, limit, maxEventBytes)
  const end = scan.read(body, start, limit, validator.names)
  if (end === -1) throw unreadable(body, start, limit, maxEventBytes)
  requireSize(end - start, maxEventBytes, '')
  const isWhole = start === 0 && end === body.length
  let stored: Uint8Array = isWhole ? body : body.subarray(start, end)
  if (!isFineAsSent(validator)) {
    if (scan.hasSurrogate || scan.repeatsName) requireSoundText(body, start, end, validator)
    stored = withChanges(validator)
    requireSize(stored.length, maxEventBytes, ', with all digits of its numbers,')
  }
  if (misspelt !== null) noteMisspelt(validator, misspelt)
  return { stored, end }
}

/** Of the event that was read, which is valid. */
function noteMisspelt(validator: Validator, misspelt: MisspeltFields): void {
  const unknown = scan.unknown()
  if (unknown.length > 0) {
    const isGiven = (name: string) => scan.places[validator.names.indexes.get(name)!] !== 0
    misspelt.note(validator, unknown, isGiven)
  }
  const envelope = unknown.length > 0 ? envelopeOf(validator) : null
  if (envelope !== null) misspelt.noteEnvelope(envelope)
  else if (unknown.length > 0 && hasNoColumn(validator) && !hasFormerName(validator, unknown))
    misspelt.noteStranger(validator, unknown[0]!)
  if (!spans.hasUnknownField) return
  for (const [i, { nested, name }] of validator.columns.entries())
    if (nested !== null && scan.places[i] !== 0)
      noteNested(misspelt, spans, scan.places[i]!, nested, name)
}

/** The unknown field of an event without columns whose value is an object that has one; null for any other event. */
function envelopeOf(validator: Validator): string | null {
  if (!hasNoColumn(validator)) return null
  const { names } = validator
  for (const name of scan.unknown()) {
    const node = scan.nodeOfUnknown(name)
    const isColumn = (inner: string) => (names.indexes.get(inner) ?? names.count) < names.count
    if (spans.kind(node) === OBJECT && spans.names(node).some(isColumn)) return name
  }
  return null
}

const hasFormerName = ({ former }: Validator, unknown: readonly string[]): boolean =>
  former.length > 0 && unknown.some((name) => former.includes(name))

function hasNoColumn({ names }: Validator): boolean {
  for (let i = 0; i < names.count; i++) if (scan.places[i] !== 0) return false
  return true
}

function requireSize(sizeBytes: number, maxEventBytes: number, how: string): void {
  if (sizeBytes > maxEventBytes) throw tooLarge(maxEventBytes, how)
}

const tooLarge = (maxEventBytes: number, how: string) =>
  refusal('event-too-large', `the event${how} is larger than ${maxEventBytes} bytes`)

/** Whether the event that was read is valid and to be stored as it is. Where it is not, withChanges() knows why. */
function isFineAsSent({ columns, spelled }: Validator): boolean {
  if (scan.hasSurrogate || scan.repeatsName) return false
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!
    const node = scan.places[i]!
    if (node === 0 || spans.kind(node) === NULL) {
      if (column.required) return false
    } else if (!isKept(column, node, false)) return false
  }
  const isOdd = scan.hasLongNumber || scan.hasPair || (spelled && spans.isPrintedAnew(0))
  for (let i = 0; isOdd && i < columns.length; i++)
    if (scan.places[i] !== 0 && isQuoted(columns[i]!, scan.places[i]!)) return false
  return true
}

/** The event that was read, as it is to be stored. Throws RequestError where it is not valid. */
function withChanges(validator: Validator): Uint8Array {
  const { columns } = validator
  const edits: Edit[] = []
  let texts: Map<string, string> | null = null
  for (let i = 0; i < columns.length; i++) {
    const column = columns[i]!
    const node = scan.places[i]!
    if (node === 0 || spans.kind(node) === NULL) {
      if (column.required) throw missingField(column, validator)
    } else if (!isKept(column, node, true)) {
      const changes: Changes = { edits: [], json: [] }
      const problem = column.rule(spans, node, changes)
      if (problem !== null) throw invalidValue(column, node, problem)
      // One by one: a call takes some 120,000 arguments, and a long list may have more.
      for (const edit of changes.edits) edits.push(edit)
      if (changes.json.some((json) => spans.isPrintedAnew(json)))
        (texts ??= new Map()).set(exactKey(column), exactText(column, node, changes))
    }
  }
  const event = applyEdits(0, edits)
  return texts === null ? event : withExact(event, texts)
}

/** Whether the value is valid and needs no change, in an odd event or in another one. */
function isKept(column: ValidatedColumn, node: number, isOdd: boolean): boolean {
  if (spans.kind(node) === column.always) return true
  return !(isOdd && isQuoted(column, node)) && column.rule(spans, node, null) === null
}

/**
 * In an odd event, or one with a value that is changed, numbers with a fraction become texts, unless their columns take all
 * of them as they are.
 */
const isQuoted = ({ always, isSame }: ValidatedColumn, node: number): boolean =>
  !isSame && spans.kind(node) !== always && spans.holdsFraction(node)

/** The value of a column as withExact() takes it. */
function exactText({ type }: ValidatedColumn, node: number, { edits, json }: Changes): string {
  if (type === 'JSON') return spans.print(node)
  const asText = json.map((inner) => ({
    start: spans.start(inner),
    end: spans.end(inner),
    text: JSON.stringify(spans.print(inner)),
  }))
  return applyEdits(node, [...edits, ...asText]).toString()
}

const QUOTE = 0x22

function applyEdits(node: number, edits: readonly Edit[]): Buffer {
  const { bytes } = spans
  const end = spans.end(node)
  let at = spans.start(node)
  if (edits.length === 0) return bytes.subarray(at, end)
  const ordered = edits.length === 1 ? edits : edits.toSorted((a, b) => a.start - b.start)
  let size = end - at
  for (const { start, end, text } of ordered)
    size += text === null ? 2 : Buffer.byteLength(text) - (end - start)
  const changed = Buffer.allocUnsafe(size)
  let to = 0
  for (const edit of ordered) {
    to += bytes.copy(changed, to, at, edit.start)
    at = edit.end
    if (edit.text !== null) to += changed.write(edit.text, to)
    else {
      changed[to++] = QUOTE
      for (let from = edit.start; from < edit.end; from++) changed[to++] = bytes[from]!
      changed[to++] = QUOTE
    }
  }
  bytes.copy(changed, to, at, end)
  return changed
}

/** All texts and names are characters, and no object has a name twice. Throws RequestError. */
function requireSoundText(body: Buffer, start: number, end: number, { names }: Validator): void {
  // Without columns, all names have spans.
  scan.read(body, start, end, NO_COLUMNS)
  for (let node = 0; node < spans.count; node++) {
    const kind = spans.kind(node)
    if (kind === STRING) refuseLoneSurrogate(spans.text(node))
    if (kind !== OBJECT) continue
    const given = new Set<string>()
    for (const name of spans.names(node)) {
      refuseLoneSurrogate(name)
      if (given.has(name))
        throw refusal('duplicate-field', `the field "${name}" is given more than once`, {
          target: name,
        })
      given.add(name)
    }
  }
  scan.read(body, start, end, names)
}

function refuseLoneSurrogate(text: string): void {
  if (/\p{Surrogate}/u.test(text))
    throw refusal(
      'lone-surrogate',
      'a \\u escape is half of a surrogate pair, which is not a character',
    )
}

function invalidValue({ name, type }: ValidatedColumn, node: number, problem: string): Error {
  const kind = spans.kind(node)
  const was = kind === NUMBER ? ` ${shorten(spans.token(node))}` : ''
  // What is wrong inside of it begins with its place: `field "a" must be …`.
  const demand = problem.startsWith('must ') ? `it ${problem}` : problem
  const message = `column "${name}" (${type}): the ${KIND_NAMES[kind]}${was} does not fit; ${demand}`
  return refusal('invalid-value', message, { target: name })
}

/** The first of them in the message, and all in `details` where there are several. */
function missingField({ name, type }: ValidatedColumn, validator: Validator): Error {
  const { columns } = validator
  const isNull = new Set(
    columns.filter((_, i) => scan.places[i] !== 0).map((column) => column.name),
  )
  const because = (column: string) => (isNull.has(column) ? 'is null' : 'is missing')
  const hint = isNull.has(name) ? undefined : didYouMean(name, scan.unknown())
  const envelope = envelopeOf(validator)
  const sent =
    envelope !== null
      ? `; it is inside of "${envelope}": send the object in "${envelope}" alone`
      : hint === undefined
        ? ''
        : `; the event has ${hint.replace(/^did you mean |\?$/g, '')}`
  const all = columns.filter(
    ({ required }, i) => required && (scan.places[i] === 0 || spans.kind(scan.places[i]!) === NULL),
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

function notAnObject(body: Buffer, start: number, limit: number, maxEventBytes: number): Error {
  if (start === limit) return refusal('invalid-json', 'the body is empty; send a JSON object')
  const kind = { 0x5b: 'an array', 0x22: 'a string' }[body[start]!]
  const looksLikeJson = kind !== undefined || /^(?:-?\d|true|false|null)/.test(peek(body, start))
  if (!looksLikeJson) return invalidJson(body, start, limit, maxEventBytes)
  return refusal(
    'not-an-object',
    `an event is a JSON object, and this is ${kind ?? 'a bare value'}`,
  )
}

const peek = (body: Buffer, start: number) => body.toString('latin1', start, start + 5)

/** Why a text that begins as an object cannot be read. */
function unreadable(body: Buffer, start: number, limit: number, maxEventBytes: number): Error {
  const { end, depth } = measureBrackets(body, start, limit)
  if (end !== -1) requireSize(end - start, maxEventBytes, '')
  if (depth > limits.eventDepth)
    return refusal('too-deep', `the event is nested more than ${limits.eventDepth} levels deep`)
  return invalidJson(body, start, end === -1 ? limit : end, maxEventBytes)
}

/**
 * What is beyond the size of an event is not read: where no event ends, that is all the rest of a batch, which takes seconds
 * and much memory.
 */
function invalidJson(body: Buffer, start: number, limit: number, maxEventBytes: number): Error {
  const end = Math.min(limit, start + maxEventBytes)
  try {
    JSON.parse(body.toString('utf8', start, end))
    return refusal('invalid-json', 'the body is not JSON')
  } catch (cause) {
    // From Node 22 on the line is named too, which is that of this one event.
    const message = (cause as SyntaxError).message.replace(/ \(line \d+ column \d+\)$/, '')
    const isCut = end < limit && /^(?:Unexpected end|Unterminated)/.test(message)
    if (isCut) return tooLarge(maxEventBytes, '')
    const problem = jsonMistake(body.toString('utf8', start, end)) ?? message
    return refusal('invalid-json', `this is not JSON: ${problem}`, { cause })
  }
}
