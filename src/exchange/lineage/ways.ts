// How events of lineage go out. A way that is missing here does not compile.

import { appendFile } from 'node:fs/promises'
import { limits } from '../../core/limits.ts'

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
  const timeout = AbortSignal.timeout(limits.lineageTimeoutMs)
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'Content-Type': 'application/json',
        'User-Agent': 'eider',
        ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
      },
      body,
      // To another address nobody has asked it to go.
      redirect: 'manual',
      signal: AbortSignal.any([signal, timeout]),
    })
    // A short answer is read, so that the connection can be used again; what a long one says, nobody wants to know.
    const length = Number(response.headers.get('content-length') ?? Number.NaN)
    if (length <= limits.lineageAnswerBytes) await response.arrayBuffer()
    else await response.body?.cancel()
    return response.ok ? ARRIVED : { problem: String(response.status), isDead: false }
  } catch (error) {
    const problem = timeout.aborted ? 'no answer in time' : reasonOf(error)
    return { problem, isDead: true }
  }
}

/** Codes such as ECONNREFUSED; messages may have the URL in them. */
function reasonOf(error: unknown): string {
  const { code, name, cause } = error as NodeJS.ErrnoException
  const inner = (cause as NodeJS.ErrnoException | undefined)?.code
  return inner ?? (typeof code === 'string' ? code : name)
}

async function append(path: string, event: string): Promise<Sent> {
  try {
    await appendFile(path, event + '\n')
    return ARRIVED
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code ?? String(error), isDead: true }
  }
}
