// What a Content-Type says about a body of events.

import { refusal } from '../errors.ts'

export type MediaType = 'json' | 'ndjson'

/**
 * JSON also without the header, and for text/plain when that is wanted. Throws 415 for anything else, and for a charset
 * other than UTF-8.
 */
export function mediaType(header: string | undefined, acceptTextPlain = false): MediaType {
  if (header === undefined || header === 'application/json') return 'json'
  const [type = '', ...parameters] = header.split(';').map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))
  if (charset !== undefined && !/^charset="?utf-?8"?$/.test(charset))
    throw unsupportedMedia(`the ${charset.replace('=', ' ')} is not UTF-8`)
  if (type === 'application/json' || /^application\/[^ ]+\+json$/.test(type)) return 'json'
  if (type === 'text/plain' && acceptTextPlain) return 'json'
  if (type === 'application/x-ndjson' || type === 'application/ndjson') return 'ndjson'
  throw unsupportedMedia(`the Content-Type "${type}" is not JSON`)
}

export function unsupportedMedia(
  message: string,
  hint = 'send application/json, or for a batch also application/x-ndjson',
): Error {
  return refusal('unsupported-media-type', `${message}; ${hint}`, {
    headers: { Accept: 'application/json, application/x-ndjson' },
  })
}
