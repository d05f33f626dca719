// Makes the index of a file with rows in a thread of its own (index-rows-thread.ts): of a million rows that takes as long
// as some thousand lookups, which the main thread answers meanwhile.

import { once } from 'node:events'
import { dirname, extname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Worker } from 'node:worker_threads'
import type { AnswerFile } from './answer-files.ts'
import type { RowIndexParts } from './row-index.ts'

const here = fileURLToPath(import.meta.url)
const THREAD = join(dirname(here), `index-rows-thread${extname(here)}`)

/** What the thread reads: a file that is open until the thread has ended. */
export type RowsToIndex = Pick<AnswerFile, 'fd' | 'rows' | 'bytes'>

/** Throws when it is not a file with so many rows, or `signal` is aborted. The thread has ended then. */
export async function indexInThread(
  { fd, rows, bytes }: RowsToIndex,
  signal: AbortSignal,
): Promise<RowIndexParts> {
  signal.throwIfAborted()
  const order: RowsToIndex = { fd, rows, bytes }
  const worker = new Worker(THREAD, { workerData: order })
  worker.on('error', () => {}) // also when nobody waits any more
  const ended = new AbortController()
  worker.once('exit', () => ended.abort(new Error('the thread that reads rows has ended')))
  try {
    const either = AbortSignal.any([signal, ended.signal])
    const [parts] = (await once(worker, 'message', { signal: either })) as [RowIndexParts]
    return parts
  } finally {
    await worker.terminate()
  }
}
