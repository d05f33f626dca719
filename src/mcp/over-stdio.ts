// The protocol over the standard streams of a process: one message is one line, and nothing else is written.

import { isObject } from '../core/object.ts'
import type { Readable, Writable } from 'node:stream'
import { once } from 'node:events'
import { limits } from '../core/limits.ts'
import type { AskedService } from '../http/side-door.ts'
import { answerMessage } from './answer-message.ts'
import type { AssistantOptions } from './conversation.ts'
import { errorMessage, type MessageId, tooLong } from './messages.ts'

interface Streams {
  readonly input: Readable
  readonly output: Writable
  /** Aborted when no further message is to be read, and nobody waits for answers. */
  readonly stop: AbortSignal
}

/** Answers until the input ends, with all answers written, or until `stop`. */
export async function serveStreams(
  options: AssistantOptions,
  service: AskedService,
  { input, output, stop }: Streams,
): Promise<void> {
  const atWork = new Map<MessageId, AbortController>()
  const answers = new Set<Promise<void>>()
  const failures: unknown[] = []
  const write = async (text: string) => {
    if (!output.write(`${text}\n`)) await once(output, 'drain', { signal: stop })
  }
  const answer = async (text: string) => {
    const { id, cancels } = traitsOf(text)
    if (cancels !== null) return atWork.get(cancels)?.abort()
    const cancelled = new AbortController()
    if (id !== null) atWork.set(id, cancelled)
    const gone = AbortSignal.any([stop, cancelled.signal])
    try {
      const found = await answerMessage({ ...options, service, gone }, text)
      if (found !== null && !gone.aborted) await write(found)
    } finally {
      if (id !== null && atWork.get(id) === cancelled) atWork.delete(id)
    }
  }
  for await (const line of linesOf(input, stop)) {
    if (line === null) {
      await write(errorMessage(null, tooLong()))
      continue
    }
    const work = answer(line)
      .catch((error: unknown) => {
        if (!stop.aborted) failures.push(error)
      })
      .finally(() => answers.delete(work))
    answers.add(work)
    // What is not read yet waits in the pipe, and not in memory.
    if (answers.size >= limits.assistantMessages) await Promise.race(answers)
    if (failures.length > 0) break
  }
  await Promise.all(answers)
  if (failures.length > 0) throw failures[0]
}

/** The id of a request, and that of the one which a notification cancels. */
function traitsOf(text: string) {
  const none = { id: null, cancels: null }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    return none
  }
  if (!isObject(document)) return none
  const { id, method, params } = document
  const idOf = (value: unknown) =>
    typeof value === 'string' || typeof value === 'number' ? value : null
  if (method !== 'notifications/cancelled') return { id: idOf(id), cancels: null }
  return { id: null, cancels: isObject(params) ? idOf(params['requestId']) : null }
}

const NEWLINE = 0x0a

/** null for a line that is too long, of which no more than its end is read. */
async function* linesOf(input: Readable, stop: AbortSignal): AsyncGenerator<string | null, void> {
  let parts: Buffer[] = []
  let bytes = 0
  const taken = (): string | null => {
    const isLong = bytes > limits.assistantMessageBytes
    const text = isLong ? null : Buffer.concat(parts).toString('utf8')
    parts = []
    bytes = 0
    return text
  }
  for await (const chunk of untilStopped(input, stop)) {
    let start = 0
    for (let end; (end = chunk.indexOf(NEWLINE, start)) >= 0; start = end + 1) {
      take(chunk.subarray(start, end))
      const line = taken()
      if (line === null || line.trim() !== '') yield line
    }
    take(chunk.subarray(start))
  }
  const last = taken()
  if (last === null || last.trim() !== '') yield last

  function take(part: Buffer): void {
    bytes += part.length
    if (bytes <= limits.assistantMessageBytes) parts.push(part)
    else parts = []
  }
}

async function* untilStopped(input: Readable, stop: AbortSignal): AsyncGenerator<Buffer, void> {
  const end = () => input.destroy()
  stop.addEventListener('abort', end, { once: true })
  try {
    if (!stop.aborted) yield* input as AsyncIterable<Buffer>
  } catch (error) {
    // A stream that is destroyed while it is read ends in this.
    if (!stop.aborted) throw error
  } finally {
    stop.removeEventListener('abort', end)
  }
}
