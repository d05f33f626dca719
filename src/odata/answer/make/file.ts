// Answers that DuckDB writes to a file, of which a client may ask for parts.

import type { FileOrder } from '../../engine/answer-files.ts'
import { odataError } from '../../protocol/errors.ts'
import type { FormatName } from '../../protocol/formats.ts'
import { asksForTime, type Content, type Exchange } from '../context.ts'

export async function answerFromFile(
  { engine, request, resources, service, snapshot }: Exchange,
  format: FormatName,
  written: FileOrder['written'],
): Promise<Content> {
  const order = {
    snapshot: snapshot.snapshot,
    key: `${service.reader.key} ${request.version} ${request.target} ${format}`,
    isTimed: asksForTime(request),
    written,
  }
  const file = resources.use(await service.answerFiles.lease(order, engine))
  return { body: file.read(0, file.bytes), file, rows: () => file.rows }
}

/** What is refused because the format cannot hold it. */
export const noPlaceIn = (format: string) => (target: string, what: string) =>
  odataError('option-not-allowed', `${format} cannot carry ${what}`, { target })
