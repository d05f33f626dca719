// Messages of the streaming format of Arrow (https://arrow.apache.org/docs/format/Columnar.html): a schema, then batches of
// rows, then the end. Each is a description in FlatBuffers, whose length is before it, and a body.

import { byKind } from '../../core/by-kind.ts'
import type { ArrowField, ArrowType } from '../../core/arrow-types.ts'
import { type BatchBuffer, SLACK_BYTES } from './batch-buffer.ts'
import { FlatBuilder, type FlatField } from './flat-builder.ts'

const VERSION_5 = 4
const SCHEMA = 1
const BATCH = 3
const CONTINUES = -1

export const ARROW_END = Buffer.from(Int32Array.of(CONTINUES, 0).buffer)

export function schemaMessage(fields: readonly ArrowField[]): Buffer {
  const builder = new FlatBuilder()
  const list = builder.list(fields.map((field) => fieldTable(builder, field)))
  const isLittleEndian = { bytes: 2, value: 0 } as const
  const schema = builder.table([isLittleEndian, { to: list }])
  return described(builder, SCHEMA, schema, 0)
}

/** `lengths`: of each column, and of the columns inside it after it, the values and how many are NULL. */
export function batchMessage(
  rows: number,
  lengths: readonly number[],
  buffers: readonly BatchBuffer[],
): Buffer {
  const places: number[] = []
  let size = 0
  for (const { bytes } of buffers) {
    places.push(size, bytes)
    size += padded(bytes)
  }
  const builder = new FlatBuilder()
  const list = builder.pairs(places)
  const nodes = builder.pairs(lengths)
  const batch = builder.table([{ bytes: 8, value: rows }, { to: nodes }, { to: list }])
  const head = described(builder, BATCH, batch, size)
  const message = Buffer.allocUnsafe(head.length + size + SLACK_BYTES)
  head.copy(message)
  let at = head.length
  for (const buffer of buffers) {
    buffer.write(message, at)
    const end = at + padded(buffer.bytes)
    for (at += buffer.bytes; at < end; at++) message[at] = 0
  }
  return message.subarray(0, at)
}

const padded = (length: number): number => Math.ceil(length / 8) * 8

function described(builder: FlatBuilder, kind: number, header: number, bodyBytes: number): Buffer {
  const root = builder.table([
    { bytes: 2, value: VERSION_5 },
    { bytes: 1, value: kind },
    { to: header },
    { bytes: 8, value: bodyBytes },
  ])
  const description = builder.finish(root)
  const prefix = Buffer.from(Int32Array.of(CONTINUES, description.length).buffer)
  return Buffer.concat([prefix, description])
}

function fieldTable(builder: FlatBuilder, { name, type }: ArrowField): number {
  const children = builder.list(fieldsIn(type).map((field) => fieldTable(builder, field)))
  const text = builder.text(name)
  const { number, fields } = typeOf(type, builder)
  const table = builder.table(fields)
  const isNullable = { bytes: 1, value: 1 } as const
  return builder.table([
    { to: text },
    isNullable,
    { bytes: 1, value: number },
    { to: table },
    null,
    { to: children },
  ])
}

function fieldsIn(type: ArrowType): readonly ArrowField[] {
  if (type.kind === 'list') return [{ name: 'item', type: type.item }]
  return type.kind === 'struct' ? type.fields : []
}

const short = (value: number) => ({ bytes: 2, value }) as const
const word = (value: number) => ({ bytes: 4, value }) as const
const MICROSECONDS = short(2)

interface TypeTable {
  readonly number: number
  readonly fields: readonly FlatField[]
}

/** The number of a type in the union of all, and the fields of its table. */
const typeOf = byKind<ArrowType, TypeTable, [builder: FlatBuilder]>({
  integer: ({ bytes }) => ({ number: 2, fields: [word(8 * bytes), { bytes: 1, value: 1 }] }),
  float: ({ bytes }) => ({ number: 3, fields: [short(bytes === 4 ? 1 : 2)] }),
  bytes: () => ({ number: 4, fields: [] }),
  text: () => ({ number: 5, fields: [] }),
  boolean: () => ({ number: 6, fields: [] }),
  decimal: ({ precision, scale }) => ({
    number: 7,
    fields: [word(precision), word(scale), word(128)],
  }),
  date: () => ({ number: 8, fields: [short(0)] }),
  time: () => ({ number: 9, fields: [MICROSECONDS, word(64)] }),
  moment: (_, builder) => ({ number: 10, fields: [MICROSECONDS, { to: builder.text('UTC') }] }),
  list: () => ({ number: 12, fields: [] }),
  struct: () => ({ number: 13, fields: [] }),
  duration: () => ({ number: 18, fields: [MICROSECONDS] }),
})
