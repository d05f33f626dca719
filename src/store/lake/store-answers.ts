// What the S3 store of a lake answers in place of rows, in plain words, with its status and the store's own code: stores
// have more of them than any list does, so what no case knows is still told as an answer of the store.

import { EnvironmentError } from '../../core/failures.ts'
import type { LakeTarget } from '../../core/lake.ts'
import type { DatabaseError } from '../../duckdb/errors.ts'

interface Answer {
  /** null: none came. */
  readonly status: number | null
  /** Such as `SlowDown`; empty where the store gives none. */
  readonly code: string
  /** With those of the engine. */
  readonly text: string
}

interface Case {
  readonly code: 'lake-store-refused' | 'lake-store-unreachable'
  readonly when: (answer: Answer) => boolean
  readonly says: (lake: LakeTarget) => string
  readonly hint: (lake: LakeTarget) => string
}

const says =
  (pattern: RegExp) =>
  ({ code, text }: Answer): boolean =>
    pattern.test(code) || pattern.test(text)

/** The same request may be answered later: DuckDB has sent it again before it gave up. */
const isPassing = ({ status, code }: Answer): boolean =>
  (status !== null && (status >= 500 || status === 408 || status === 425 || status === 429)) ||
  /^(?:RequestTimeout|SlowDown|OperationAborted|TooManyRequests)$/.test(code)

// The first that fits.
const cases: readonly Case[] = [
  {
    code: 'lake-store-refused',
    when: says(/NoSuchBucket/),
    says: () => 'there is no such bucket',
    hint: () => 'make it, or check lake.data and lake.s3_endpoint',
  },
  {
    code: 'lake-store-refused',
    when: says(/RequestTimeTooSkewed/),
    says: () => 'the clock of this machine differs from that of the store',
    hint: () => 'set the clock, as by NTP',
  },
  {
    code: 'lake-store-refused',
    when: ({ status, ...rest }) =>
      status === 301 || says(/AuthorizationHeaderMalformed|PermanentRedirect/)({ status, ...rest }),
    says: ({ store: { region } }) => `the store has another region than ${region}`,
    hint: () => 'set lake.s3_region',
  },
  {
    code: 'lake-store-refused',
    when: says(/ExpiredToken|InvalidToken|TokenRefreshRequired/),
    says: () => 'the token of the key has run out or is not valid',
    hint: ({ store: { credentials } }) =>
      credentials === 'chain'
        ? 'run again: each command asks the role of the machine for new keys'
        : 'start it again with a new LAKE_S3_KEY_ID, LAKE_S3_SECRET and LAKE_S3_TOKEN; lake.s3_credentials: chain asks the role of the machine for them',
  },
  {
    code: 'lake-store-refused',
    when: ({ status, ...rest }) =>
      status === 507 || says(/QuotaExceeded|StorageFull|InsufficientStorage/)({ status, ...rest }),
    says: () => 'the store is full',
    hint: () => 'give it more space; nothing was lost, run again when it has some',
  },
  {
    code: 'lake-store-refused',
    when: ({ status, ...rest }) =>
      status === 401 ||
      status === 403 ||
      says(/Forbidden|InvalidAccessKeyId|SignatureDoesNotMatch|AccessDenied/)({ status, ...rest }),
    says: () => 'the store refuses the key',
    hint: () =>
      'check LAKE_S3_KEY_ID and LAKE_S3_SECRET, lake.s3_region, and the rights of the key',
  },
  {
    code: 'lake-store-unreachable',
    when: says(/Problem with the SSL CA cert/),
    says: ({ store: { authority } }) => `lake.s3_ca cannot be read (${authority ?? 'not set'})`,
    hint: () => 'it is the path of a PEM file, from the directory of eider.yml',
  },
  {
    code: 'lake-store-unreachable',
    when: says(/SSL peer certificate/),
    says: () => 'the TLS certificate of the store is not valid here',
    hint: ({ store: { authority } }) =>
      authority === null
        ? 'set lake.s3_ca to a file with the certificate of its authority'
        : 'check whether lake.s3_ca has the authority of its certificate, and whether that is for this host',
  },
  {
    code: 'lake-store-unreachable',
    when: says(/SSL connect error/),
    says: () => 'the store does not speak TLS',
    hint: () => 'check lake.s3_endpoint: a store without TLS has a URL of http:',
  },
  {
    code: 'lake-store-unreachable',
    when: (answer) =>
      isPassing(answer) ||
      says(
        /Could not connect to server|Could not establish connection|Could not resolve hostname|Timeout was reached|error for HTTP/,
      )(answer),
    says: () => 'the store does not answer',
    hint: ({ store: { endpoint, urlStyle } }) =>
      endpoint !== null && urlStyle === 'vhost'
        ? 'check lake.s3_endpoint, and set lake.s3_url_style: path unless the store has a host for each bucket'
        : 'check lake.s3_endpoint and whether the store runs; nothing was lost, run again when it does',
  },
  {
    code: 'lake-store-refused',
    when: says(/Unexpected response when uploading/),
    says: () => 'what answers is not an S3 store',
    hint: () => 'check lake.s3_endpoint, and what is in between',
  },
  {
    code: 'lake-store-refused',
    when: ({ status }) => status !== null,
    says: () => 'the store refuses a request',
    hint: () => 'check lake.data and lake.s3_endpoint, and what the store says of this code',
  },
]

/** null: it is not of the store. */
export function explainStore(error: DatabaseError, lake: LakeTarget): EnvironmentError | null {
  const { message } = error.details
  if (isOfAnother(message, lake)) return null
  const answer = answerIn(error)
  const found = cases.find(({ when }) => when(answer))
  if (found === undefined) return null
  const { data, endpoint } = lake.store
  const { status, code } = answer
  const shown = status === null ? '' : ` (HTTP ${status}${code === '' ? '' : ` ${code}`})`
  const said = `${found.says(lake)}: ${data} at ${endpoint ?? 'AWS'}${shown}`
  return new EnvironmentError(found.code, said, { hint: found.hint(lake), cause: error })
}

function answerIn({ details: { message, answer = '' } }: DatabaseError): Answer {
  const status = /\bHTTP (?:code )?(\d{3})\b/.exec(message)?.[1]
  const code =
    /<Code>\s*(\w{1,64})\s*<\/Code>/.exec(answer)?.[1] ?? /\n\n(\w{1,64}): /.exec(message)?.[1]
  return {
    status: status === undefined ? null : Number(status),
    code: code ?? '',
    text: message,
  }
}

/** A model may read files of other servers by their URLs. */
function isOfAnother(message: string, { store: { data } }: LakeTarget): boolean {
  const urls = message.match(/\b(?:s3|https?):\/\/[^\s'"\\]+/g) ?? []
  const [bucket = '', ...path] = data.slice('s3://'.length).split('/')
  // A listing is asked for without the last slash.
  const prefix = path.join('/').replace(/\/$/, '')
  const isOwn = (url: string) => {
    const plain = unescaped(url)
    return plain.includes(bucket) && plain.includes(prefix)
  }
  return urls.length > 0 && !urls.some(isOwn)
}

function unescaped(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}
