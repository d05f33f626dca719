// Rows as a stream of Arrow: its beginning, its batches, its end.

import type { ArrowField } from '../../core/arrow-types.ts'
import type { Sql } from '../../core/sql.ts'
import { arrowReader, arrowRowsSql } from '../../duckdb/arrow/arrow-chunks.ts'
import { ARROW_END, schemaMessage } from '../../duckdb/arrow/messages.ts'
import { type EngineAccess, Query } from './query.ts'

interface ArrowRows {
  readonly fields: readonly ArrowField[]
  /** Values of `rows`, in the order and the types of the fields. */
  readonly columns: readonly Sql[]
  readonly rows: Sql
}

interface ArrowStream {
  readonly found: Query
  /** All of it; a buffer where it is complete. */
  readonly body: Buffer | AsyncIterable<Buffer>
}

/** `found` is to be disposed of after the body was read. Throws as Query.open() does. */
export async function openArrow(
  access: EngineAccess,
  { fields, columns, rows }: ArrowRows,
  options: Pick<Parameters<typeof Query.open>[2], 'mode' | 'effort'>,
): Promise<ArrowStream> {
  const found = await Query.open(access, arrowRowsSql(columns, rows), {
    ...options,
    maxRows: Number.MAX_SAFE_INTEGER,
    reader: arrowReader(fields),
  })
  const head = schemaMessage(fields)
  const { whole } = found
  const body = whole === null ? streamed(head, found) : Buffer.concat([head, whole, ARROW_END])
  return { found, body }
}

async function* streamed(head: Buffer, found: Query): AsyncGenerator<Buffer, void> {
  yield head
  yield* found.chunks()
  yield ARROW_END
}
