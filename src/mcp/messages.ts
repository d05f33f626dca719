// JSON-RPC 2.0 as the Model Context Protocol uses it: one message at a time, a request or a notification.

import { isObject } from '../core/object.ts'
import { limits } from '../core/limits.ts'

export type MessageId = string | number

export interface Message {
  readonly method: string
  readonly params: Readonly<Record<string, unknown>>
  /** null: a notification, which nobody answers. */
  readonly id: MessageId | null
}

/** What is wrong with a request, as the protocol itself says it. What a tool refuses is a result. */
export class ProtocolError extends Error {
  override name = 'ProtocolError'
  readonly code: number

  constructor(code: keyof typeof CODES, message: string) {
    super(message)
    this.code = CODES[code]
  }
}

const CODES = {
  'parse-error': -32700,
  'invalid-request': -32600,
  'unknown-method': -32601,
  'invalid-params': -32602,
  'internal-error': -32603,
  'unknown-resource': -32002,
} as const

/** null for an answer of the client, to whom nothing is ever asked. Throws ProtocolError. */
export function parseMessage(text: string): Message | null {
  if (Buffer.byteLength(text) > limits.assistantMessageBytes) throw tooLong()
  const document = parsed(text)
  if (Array.isArray(document))
    throw new ProtocolError('invalid-request', 'messages are sent one by one, not as an array')
  if (!isObject(document) || document['jsonrpc'] !== '2.0')
    throw new ProtocolError('invalid-request', 'this is no message of JSON-RPC 2.0')
  const { method, params = {}, id = null } = document
  if (method === undefined && ('result' in document || 'error' in document)) return null
  if (typeof method !== 'string')
    throw new ProtocolError('invalid-request', '"method" must be a string')
  if (id !== null && !isId(id))
    throw new ProtocolError('invalid-request', '"id" must be a string or a whole number')
  // Nobody waits to hear what is wrong with a notification.
  if (!isObject(params) && id === null) return null
  if (!isObject(params)) throw new ProtocolError('invalid-params', '"params" must be an object')
  return { method, params, id }
}

export const tooLong = () =>
  new ProtocolError(
    'invalid-request',
    `the message is longer than ${limits.assistantMessageBytes} bytes`,
  )

/** The id in a message that is wrong otherwise, so that its sender hears which one. */
export function idIn(text: string): MessageId | null {
  try {
    const document: unknown = JSON.parse(text)
    const id = isObject(document) ? document['id'] : null
    return isId(id) ? id : null
  } catch {
    return null
  }
}

const isId = (value: unknown): value is MessageId =>
  typeof value === 'string' || Number.isSafeInteger(value)

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new ProtocolError('parse-error', 'the message is not valid JSON')
  }
}

export const resultText = (id: MessageId, result: unknown): string =>
  JSON.stringify({ jsonrpc: '2.0', id, result })

export const errorMessage = (id: MessageId | null, { code, message }: ProtocolError): string =>
  JSON.stringify({ jsonrpc: '2.0', id, error: { code, message } })
