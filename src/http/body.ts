// Request bodies: bounded in size before and after decompression.

import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { createGunzip, createInflate } from 'node:zlib'
import { RequestError } from './request-error.ts'

/** The whole body. Throws 413 above `maxBytes` (also of what it decompresses to), 415 for an encoding that is not gzip or deflate, 400 for a broken one. */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const declared = Number(request.headers['content-length'] ?? 0)
  if (declared > maxBytes) throw tooLarge(maxBytes)
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase()
  const stream = decoded(request, encoding)
  const chunks: Buffer[] = []
  let size = 0
  try {
    for await (const chunk of stream as AsyncIterable<Buffer>) {
      size += chunk.length
      if (size > maxBytes) throw tooLarge(maxBytes)
      chunks.push(chunk)
    }
  } catch (error) {
    if (error instanceof RequestError) throw error
    throw new RequestError(400, 'unreadable-body', `the body cannot be read as ${encoding}`, {
      cause: error,
    })
  }
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks, size)
}

function decoded(request: IncomingMessage, encoding: string): Readable {
  if (encoding === 'identity') return request
  if (encoding === 'gzip' || encoding === 'x-gzip') return pipe(request, createGunzip())
  if (encoding === 'deflate') return pipe(request, createInflate())
  throw new RequestError(
    415,
    'unsupported-encoding',
    `the content encoding "${encoding}" is not gzip or deflate`,
  )
}

function pipe<T extends NodeJS.ReadWriteStream & Readable>(
  request: IncomingMessage,
  decoder: T,
): T {
  request.on('error', (error) => decoder.destroy(error))
  request.pipe(decoder)
  return decoder
}

const tooLarge = (maxBytes: number) =>
  new RequestError(413, 'body-too-large', `the body is larger than ${maxBytes} bytes`)
