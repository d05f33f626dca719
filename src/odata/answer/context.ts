// What the stages of a request pass to each other: the request, its context in the service, and the answer.

import type { Resources } from '../../core/resources.ts'
import type { Comparisons } from '../engine/comparisons.ts'
import type { AnswerFiles } from '../engine/answer-files.ts'
import type { RowLookup, RowsByKey } from '../engine/rows-by-key.ts'
import type { UnbuiltSets } from '../engine/unbuilt-sets.ts'
import type { SpooledBodies } from '../engine/spooled-bodies.ts'
import type { LinkSigner } from '../protocol/link-signature.ts'
import type { DeltaToken, SkipToken } from './choose/link-tokens.ts'
import type { ODataVersion, RequestHeaders } from '../protocol/negotiate.ts'
import type { EntityModel } from '../edm/model.ts'
import type { Reader } from '../../access/reader.ts'
import type { OpenSnapshot } from '../engine/open-snapshot.ts'
import { decodeAscii } from '../syntax/parse-request.ts'
import type { EngineAccess } from '../engine/query.ts'
import type { Admission, OpenStreams } from '../engine/admission.ts'
import type { Snapshots } from '../engine/current-snapshot.ts'
import type { Conventions } from '../protocol/conventions.ts'

/** What stays the same for all requests. */
export interface ServiceContext {
  readonly snapshots: Snapshots
  readonly comparisons: Comparisons
  readonly spooledBodies: SpooledBodies
  readonly answerFiles: AnswerFiles
  readonly rowsByKey: RowsByKey
  readonly admission: Admission
  readonly streams: OpenStreams
  readonly links: LinkSigner
  readonly reader: Reader
  readonly pageSize: number
  readonly maxPageSize: number
  readonly requestTimeoutMs: number
  readonly conventions: Conventions
  readonly unbuilt: UnbuiltSets
  readonly now: () => Date
}

export interface ODataRequest {
  /** Path below the service root and query, as sent. */
  readonly target: string
  readonly headers: RequestHeaders
  readonly version: ODataVersion
  /** Absolute URL of the service as the client reaches it, with a slash at the end. */
  readonly root: string
  readonly gone: AbortSignal
  /** The client asks for a part of the answer, or how long it is. */
  readonly wantsFile?: boolean
}

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  /** null: no body. A stream that throws must not look complete to the client. */
  readonly body: Buffer | AsyncIterable<Buffer> | null
  /** Where the body is a file, of which a client may ask for a part. */
  readonly file?: FileBody
  /** Where the row comes from a file: how rows with other keys are answered. */
  readonly lookup?: AnsweredLookup
  /** This very object is found again until the next snapshot, unless there is no room for it. */
  readonly isKept?: boolean
  /** Rows sent, for the log; complete when the body is. */
  readonly rows: () => number
}

/** A lookup that was answered from a file. Another one that differs from it in the key alone is answered like it. */
export interface AnsweredLookup extends RowLookup {
  /** The body of the answer to a request for this target, which has another key; null where the engine is to be asked. */
  readonly bodyOf: (key: readonly string[], target: string) => Buffer | null
  /** The headers of an answer to a request for this target, which differs in the key alone. */
  readonly headersOf: (target: string) => Readonly<Record<string, string>>
}

export interface FileBody {
  readonly bytes: number
  /** `end` is the offset after the last byte. */
  read(start: number, end: number): AsyncIterable<Buffer>
}

/** A request being answered. `resources` own what the body reads from, so they outlive it. */
export interface Exchange {
  readonly service: ServiceContext
  readonly request: ODataRequest
  readonly resources: Resources
  readonly snapshot: OpenSnapshot
  /** The model that the reader who asks may see. */
  readonly model: EntityModel
  readonly engine: EngineAccess
  readonly token: SkipToken | null
  /** The request is for changes since then. */
  readonly since: DeltaToken | null
  readonly format: string | null
  /** The time that the request sees. */
  readonly now: Date
  readonly isInBatch: boolean
}

/** The body of an answer while its headers are still to be made. */
export interface Content {
  /** null when there is nothing to send, which is 204. */
  readonly body: Buffer | AsyncIterable<Buffer> | null
  /** Those that are known only with the body. */
  readonly headers?: Answer['headers']
  readonly file?: FileBody
  readonly lookup?: Omit<AnsweredLookup, 'headersOf'>
  readonly rows: () => number
}

export const whole = (body: Buffer | string): Content => ({
  body: typeof body === 'string' ? Buffer.from(body) : body,
  rows: () => 0,
})

export const asksForTime = ({ target }: Pick<ODataRequest, 'target'>) =>
  /now\(/i.test(decodeAscii(target))

export const contextUrl = ({ root }: ODataRequest, fragment?: string): string =>
  `${root}$metadata${fragment === undefined ? '' : `#${fragment}`}`
