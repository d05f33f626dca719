// An answer from memory, as what may be given again to a request with the same head without asking the handler.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Again, Repeats } from '../../http/repeats.ts'
import type { Answer, ServiceContext } from '../answer/context.ts'
import type { Fellows } from '../engine/fellows.ts'
import { answerKey, type Answers } from './answers.ts'
import { type Noting, noteEnd } from './note-end.ts'
import { type KnownReaders, readerStays } from './who-asks.ts'
import type { Reader } from '../../access/reader.ts'

interface Offering extends Noting, Pick<ServiceContext, 'snapshots' | 'now'> {
  readonly known: () => KnownReaders
  readonly answers: Answers
  readonly fellows: Fellows
  readonly repeats: Repeats
}

interface Offered {
  readonly context: Offering
  readonly request: IncomingMessage
  readonly response: ServerResponse
  readonly reader: Reader | null
}

/**
 * To be called before the first wait. null: nobody learns from this request. What is returned takes the answer as it was
 * sent, and its body.
 */
export function offerAgain(
  { context, request, response, reader }: Offered,
  kept: Answer,
): ((sent: Answer, body: Buffer | null) => void) | null {
  if (kept.isKept !== true || reader === null) return null
  const learn = context.repeats.offer(request)
  if (learn === null) return null
  const { method, url = '', headers } = request
  const key = answerKey({ url, headers, reader })
  const isSameReader = readerStays(context, request)
  if (key === null || isSameReader === null) return null
  const asked = { method, url, key, reader, isSameReader, kept: new WeakRef(kept) }
  return ({ body: made, rows }, body) => {
    // Streams are parts of what is kept.
    if (made !== null && body === null) return
    learn(response, body, againFor(context, { ...asked, rows, bytes: body?.length ?? 0 }))
  }
}

interface Repeated {
  readonly method: string | undefined
  readonly url: string
  readonly key: string
  readonly reader: Reader
  readonly isSameReader: () => boolean
  /** Memory is only for what the cache keeps. */
  readonly kept: WeakRef<Answer>
  readonly rows: () => number
  readonly bytes: number
}

/** It lives for long, and so nothing of the first request does that is not named here. */
function againFor(context: Offering, repeated: Repeated): Again {
  const { method, url, key, reader, isSameReader, kept, rows, bytes } = repeated
  const { traffic, answers, snapshots, fellows } = context
  const noted = { method, url, rows, refusedAs: null, reader }
  return () => {
    if (fellows.pause !== null || !isSameReader()) return null
    const answer = kept.deref()
    if (answer === undefined) return null
    if (!answers.givesAgain(answer, { snapshotId: snapshots.currentId, key })) return null
    traffic.begin()
    traffic.send(bytes)
    return (end) => noteEnd(context, noted, end)
  }
}
