// How events of lineage go out. A way that is missing here does not compile.

import { appendFile } from 'node:fs/promises'
import { limits } from '../../core/limits.ts'
import { postJson } from '../../core/post-json.ts'

export type LineageWay = 'collector' | 'file'

/** Sends one event, as JSON. */
type Send = (event: string, signal: AbortSignal) => Promise<Sent>

export interface Sent {
  /** null: it has arrived. It has no part of a URL, which may be a secret. */
  readonly problem: string | null
  /** Nobody is there: the next one would be lost too. */
  readonly isDead: boolean
}

export interface EventWay {
  readonly send: Send
  /** Events that are under way at a time. */
  readonly lanes: number
}

interface LineageRecipient {
  /** A URL, or a path. */
  readonly to: string
  readonly token: string | null
}

export const ways: Readonly<Record<LineageWay, (recipient: LineageRecipient) => EventWay>> = {
  collector: ({ to, token }) => ({
    lanes: limits.lineageLanes,
    send: (event, signal) => post(to, token, event, signal),
  }),
  // One after the other, so that no line is torn by another one.
  file: ({ to }) => ({ lanes: 1, send: (event) => append(to, event) }),
}

const ARRIVED: Sent = { problem: null, isDead: false }

async function post(
  url: string,
  token: string | null,
  body: string,
  signal: AbortSignal,
): Promise<Sent> {
  const { status, answer } = await postJson(url, body, {
    ...(token === null ? {} : { headers: { Authorization: `Bearer ${token}` } }),
    timeoutMs: limits.lineageTimeoutMs,
    answerBytes: limits.lineageAnswerBytes,
    signal,
  })
  return status >= 200 && status < 300 ? ARRIVED : { problem: answer, isDead: status === 0 }
}

async function append(path: string, event: string): Promise<Sent> {
  try {
    await appendFile(path, event + '\n')
    return ARRIVED
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code ?? String(error), isDead: true }
  }
}
