// Every way in which the query service refuses a request: its code, and the status that goes with it.
// Codes are stable words for programs; the message is for people and never shows words of DuckDB.

import { RequestError, type RequestErrorOptions } from '../../http/request-error.ts'

const statusOfCode = {
  // The URL
  'invalid-url': 400,
  'invalid-key': 400,
  'unknown-option': 400,
  'duplicate-option': 400,
  'invalid-option-value': 400,
  'option-not-allowed': 400,
  'syntax-error': 400,
  'expression-too-deep': 400,
  'expression-too-long': 400,
  'expand-too-large': 400,
  'unknown-property': 400,
  'unknown-function': 400,
  'unknown-alias': 400,
  'wrong-arguments': 400,
  'type-mismatch': 400,
  'invalid-value': 400,
  'arithmetic-error': 400,
  // The rest of the request
  'invalid-header': 400,
  'invalid-body': 400,
  'invalid-batch': 400,
  unauthorized: 401,
  'token-expired': 401,
  'host-not-allowed': 403,
  'origin-not-allowed': 403,
  'not-for-token': 403,
  'unknown-resource': 404,
  'unknown-entity-set': 404,
  'entity-not-found': 404,
  'no-key': 404,
  'method-not-allowed': 405,
  'not-acceptable': 406,
  'snapshot-gone': 410,
  'too-large': 413,
  'range-not-satisfiable': 416,
  'url-too-long': 414,
  'unsupported-media-type': 415,
  'failed-dependency': 424,
  // What is ours
  'internal-error': 500,
  'not-supported': 501,
  overloaded: 503,
  'time-limit': 504,
} as const satisfies Record<string, number>

export type ErrorCode = keyof typeof statusOfCode

export const errorCodes = Object.keys(statusOfCode) as readonly ErrorCode[]

/** `target` names the part of the request at fault: an option such as `$filter`, a header, a path segment. */
export function odataError(
  code: ErrorCode,
  message: string,
  about: string | RequestErrorOptions = {},
) {
  const options = typeof about === 'string' ? { target: about } : about
  return new RequestError(statusOfCode[code], code, message, options)
}

/** What a next link is answered with when the snapshot that its pages come from is no longer retained. */
export const nextLinkGone = () =>
  odataError(
    'snapshot-gone',
    'this next link has expired because the data changed; start again from the first page',
    '$skiptoken',
  )

/** What a delta link is answered with when the states cannot be compared any more. */
export const changesGone = () =>
  odataError('snapshot-gone', 'this delta link has expired; reload the entity set', '$deltatoken')

/** `instead`: what gives the same. */
export const unsupported = (what: string, instead?: string) =>
  odataError(
    'not-supported',
    `${what} is not supported${instead === undefined ? '' : `; ${instead}`}`,
  )

const errorOf = (code: ErrorCode) => (message: string, target?: string) =>
  odataError(code, message, target)

export const malformed = errorOf('syntax-error')
export const unknownProperty = errorOf('unknown-property')
export const unknownResource = errorOf('unknown-resource')
export const invalidOption = errorOf('invalid-option-value')
export const optionNotAllowed = errorOf('option-not-allowed')
export const invalidValue = errorOf('invalid-value')
export const wrongArguments = errorOf('wrong-arguments')
export const typeMismatch = errorOf('type-mismatch')
