// How events of lineage go out. A way that is missing here does not compile.

import { appendFile } from 'node:fs/promises'
import { Agent, type IncomingMessage, request } from 'node:http'
import { Agent as AgentByTls, request as requestByTls } from 'node:https'
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
  collector: ({ to, token }) => {
    const address = addressOf(to, token)
    return {
      lanes: limits.lineageLanes,
      send: (event, signal) => post(address, event, signal),
    }
  },
  // One after the other, so that no line is torn by another one.
  file: ({ to }) => ({ lanes: 1, send: (event) => append(to, event) }),
}

const ARRIVED: Sent = { problem: null, isDead: false }

interface Address {
  readonly url: URL
  readonly agent: Agent
  readonly headers: Readonly<Record<string, string>>
}

function addressOf(to: string, token: string | null): Address {
  const url = new URL(to)
  const options = { keepAlive: true, maxSockets: limits.lineageLanes }
  return {
    url,
    agent: url.protocol === 'https:' ? new AgentByTls(options) : new Agent(options),
    headers: {
      'Content-Type': 'application/json',
      'User-Agent': 'eider',
      ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
    },
  }
}

/** Not by fetch(), of which the first request alone costs a processor more than fifty of these. Nothing is redirected. */
function post(to: Address, body: string, signal: AbortSignal): Promise<Sent> {
  const { url, agent, headers } = to
  const send = url.protocol === 'https:' ? requestByTls : request
  const length = Buffer.byteLength(body)
  return new Promise((resolve) => {
    let isLate = false
    const asked = send(url, {
      method: 'POST',
      agent,
      headers: { ...headers, 'Content-Length': length },
    })
    const stop = () => asked.destroy(new Error('stopped'))
    const timer = setTimeout(() => {
      isLate = true
      stop()
    }, limits.lineageTimeoutMs)
    const end = (sent: Sent | Promise<Sent>) => {
      clearTimeout(timer)
      signal.removeEventListener('abort', stop)
      resolve(sent)
    }
    signal.addEventListener('abort', stop)
    asked.once('response', (response) => {
      const { statusCode = 0 } = response
      const isOk = statusCode >= 200 && statusCode < 300
      dropAnswer(response, () =>
        end(isOk ? ARRIVED : { problem: String(statusCode), isDead: false }),
      )
    })
    asked.once('error', (error: NodeJS.ErrnoException) => {
      // The collector has closed a connection while it was unused.
      if (asked.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted)
        return end(post(to, body, signal))
      // Codes such as ECONNREFUSED; messages may have the URL in them.
      end({ problem: isLate ? 'no answer in time' : (error.code ?? error.name), isDead: true })
    })
    asked.end(body)
  })
}

/** A short answer is read, so that the connection can be used again; what a long one says, nobody wants to know. */
function dropAnswer(response: IncomingMessage, onEnd: () => void): void {
  let bytes = 0
  response.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > limits.lineageAnswerBytes) response.destroy()
  })
  response.on('error', () => {}) // the event has arrived, whatever becomes of the answer
  response.once('close', onEnd)
}

async function append(path: string, event: string): Promise<Sent> {
  try {
    await appendFile(path, event + '\n')
    return ARRIVED
  } catch (error) {
    return { problem: (error as NodeJS.ErrnoException).code ?? String(error), isDead: true }
  }
}
