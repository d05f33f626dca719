// JSON for somebody else's HTTP server. The URL may be a secret: nothing that is returned has a part of it.

import { type IncomingMessage, request } from 'node:http'
import { request as requestByTls } from 'node:https'
import { limits } from './limits.ts'

interface Posting {
  readonly timeoutMs: number
  readonly signal: AbortSignal
  /** null: none is asked for. */
  readonly token?: string | null
}

interface Posted {
  /** 0: there was no answer. */
  readonly status: number
  /** The status, or why there is none. */
  readonly answer: string
}

/**
 * Not by fetch(), of which the first request alone costs a processor more than fifty of these. Connections are kept, and
 * to another address than the one that was asked for nothing goes.
 */
export async function postJson(url: string, body: string, posting: Posting): Promise<Posted> {
  try {
    return await post(new URL(url), body, posting)
  } catch (error) {
    // What no header can hold is thrown at once, before there is a request.
    return { status: 0, answer: codeOf(error) }
  }
}

function post(url: URL, body: string, posting: Posting): Promise<Posted> {
  const { timeoutMs, signal, token = null } = posting
  const ask = url.protocol === 'https:' ? requestByTls : request
  const headers = {
    'Content-Type': 'application/json',
    'Content-Length': Buffer.byteLength(body),
    'User-Agent': 'eider',
    ...(token === null ? {} : { Authorization: `Bearer ${token}` }),
  }
  return new Promise((resolve) => {
    let isLate = false
    const asked = ask(url, { method: 'POST', headers, signal })
    const timer = setTimeout(() => {
      isLate = true
      asked.destroy(new Error('late'))
    }, timeoutMs)
    const end = (posted: Posted | Promise<Posted>) => {
      clearTimeout(timer)
      resolve(posted)
    }
    asked.once('response', (response) => {
      const { statusCode = 0 } = response
      dropAnswer(response, () => end({ status: statusCode, answer: String(statusCode) }))
    })
    asked.on('error', (error: NodeJS.ErrnoException) => {
      // The server has closed a connection while it was unused.
      if (asked.reusedSocket && error.code === 'ECONNRESET' && !signal.aborted)
        return end(post(url, body, posting))
      end({ status: 0, answer: isLate ? 'no answer in time' : codeOf(error) })
    })
    asked.end(body)
  })
}

/** A short answer is read, so that the connection can be used again; what a long one says, nobody wants to know. */
function dropAnswer(response: IncomingMessage, onEnd: () => void): void {
  let bytes = 0
  response.on('data', (part: Buffer) => {
    bytes += part.length
    if (bytes > limits.droppedAnswerBytes) response.destroy()
  })
  response.on('error', () => {}) // the body has arrived, whatever becomes of the answer
  response.once('close', onEnd)
}

/** Codes such as ECONNREFUSED; messages may have the URL in them. */
function codeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return name !== 'AbortError' && typeof code === 'string' ? code : name
}
