// The rows of an address, page by page as one scrolls.

import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../model/schema.ts'
import { type Page, usePage } from '../page.ts'
import { useValue } from '../parts/use-value.ts'
import {
  asServiceError,
  isAbort,
  type Service,
  type ServiceError,
  TOO_LONG,
} from '../service/client.ts'
import {
  FIRST_PAGE,
  firstPageRequest,
  isKnownToBeLong,
  MOST_BYTES,
  shortRows,
  type ShortRows,
} from './requests.ts'
import type { RowsContext } from './rows-context.ts'

interface LoadedRows {
  /** The request that these rows answer; while another one is under way, still the one before. */
  readonly of: string
  readonly rows: readonly Row[]
  readonly count: string | undefined
  readonly isComplete: boolean
  /** Null while all is well; the rows that are there stay. */
  readonly error: ServiceError | null
  /** Another number for rows that do not go on from those before: the table begins at its top. */
  readonly beginning: number
  /** New data came while somebody was scrolling, and the rows begin at the top once more. */
  readonly isFromTheTop: boolean
  /** Asked for instead of `of`, because its rows are too long. */
  readonly short: string | undefined
}

interface Shown {
  readonly loaded: LoadedRows | null
  readonly isWaiting: boolean
}

export interface RowsAnswer extends Shown {
  readonly more: () => void
  readonly again: () => void
}

const NEXT_PAGE = 200
/** A next link belongs to a snapshot that the service has dropped. */
const GONE_SNAPSHOT = 410

export function useRows(context: RowsContext): RowsAnswer {
  const page = usePage()
  const [shown, show] = useState<Shown>({ loaded: null, isWaiting: true })
  const [attempt, setAttempt] = useState(0)
  const reading = useRef<RowsReading | null>(null)
  const times = useValue(page.returns)
  const returns = shown.loaded?.error?.status === 0 ? times : 0
  useLayoutEffect(() => {
    const begun = new RowsReading(page, context, show)
    reading.current = begun
    return () => begun.leave()
  }, [firstPageRequest(context.state), attempt, returns])
  return {
    ...shown,
    more: () => reading.current?.more(),
    again: () => setAttempt((count) => count + 1),
  }
}

/** The rows of one request, page by page, until nobody wants them any more. */
class RowsReading {
  readonly #service: Service
  readonly #context: RowsContext
  readonly #request: string
  readonly #show: (change: (before: Shown) => Shown) => void
  readonly #leaving = new AbortController()
  /** Undefined while something is asked for, and after the last row. */
  #next: string | undefined
  #short: Partial<ShortRows> | null
  #snapshot: string | undefined
  #here = 0

  constructor(
    { service, catalog }: Page,
    context: RowsContext,
    show: (change: (before: Shown) => Shown) => void,
  ) {
    const { set, state } = context
    this.#service = service
    this.#context = context
    this.#request = firstPageRequest(state)
    this.#show = show
    // To make a megabyte of JSON takes the service longer than to notice here that it is one.
    this.#short = isKnownToBeLong(catalog, set) ? (shortRows(set, state, 0) ?? null) : null
    void this.#load(null, false)
  }

  leave(): void {
    this.#leaving.abort()
  }

  more(): void {
    const link = this.#next
    this.#next = undefined
    if (link !== undefined) void this.#load(link, false)
  }

  async #load(link: string | null, isFromTheTop: boolean): Promise<void> {
    const { signal } = this.#leaving
    const short = this.#short
    const isFirst = link === null
    this.#show(({ loaded }) => ({ loaded, isWaiting: true }))
    try {
      const answer = await this.#service.rows(link ?? short?.request ?? this.#request, {
        signal,
        pageSize: isFirst ? FIRST_PAGE : NEXT_PAGE,
        mostBytes: short === null ? MOST_BYTES : Infinity,
      })
      if (signal.aborted) return
      if (!isFirst && answer.snapshot !== this.#snapshot) return await this.#fromTheTop()
      this.#snapshot = answer.snapshot
      this.#next = answer.next
      this.#here = answer.value.length + (isFirst ? 0 : this.#here)
      const rows = short?.read?.(answer.value) ?? answer.value
      this.#show(({ loaded: before }) => ({
        isWaiting: false,
        loaded: {
          of: this.#request,
          short: short?.read && short.request,
          beginning: (before?.beginning ?? 0) + (isFirst ? 1 : 0),
          rows: isFirst || before === null ? rows : [...before.rows, ...rows],
          count: isFirst ? answer.count : before?.count,
          isComplete: answer.next === undefined,
          error: null,
          isFromTheTop: isFromTheTop || (!isFirst && before?.isFromTheTop === true),
        },
      }))
    } catch (error) {
      if (signal.aborted || isAbort(error)) return
      const failure = asServiceError(error)
      if (!isFirst && failure.status === GONE_SNAPSHOT) return await this.#fromTheTop()
      if (failure.status === TOO_LONG) return await this.#shorten(link, isFromTheTop)
      this.#next = link ?? undefined
      this.#show(({ loaded }) => ({
        loaded: failed(loaded, this.#request, failure),
        isWaiting: false,
      }))
    }
  }

  #fromTheTop(): Promise<void> {
    this.#short = null
    return this.#load(null, true)
  }

  /** The rows that are there stay, and those after them come with the beginnings of their values. */
  #shorten(link: string | null, isFromTheTop: boolean): Promise<void> {
    const { set, state } = this.#context
    const isFirst = link === null
    const short = shortRows(set, state, isFirst ? 0 : this.#here)
    this.#short = short ?? { request: link ?? this.#request }
    return this.#load(isFirst ? null : this.#short.request!, isFromTheTop)
  }
}

/** The rows of another request say nothing about one that failed; those before the page that failed stay. */
function failed(before: LoadedRows | null, request: string, error: ServiceError): LoadedRows {
  if (before?.of === request) return { ...before, error }
  return {
    of: request,
    beginning: (before?.beginning ?? 0) + 1,
    rows: [],
    count: undefined,
    isComplete: false,
    error,
    isFromTheTop: false,
    short: undefined,
  }
}
