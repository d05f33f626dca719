// The rows of an address, page by page as one scrolls.

import { useCallback, useLayoutEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../model/value.ts'
import { usePage } from '../page.ts'
import { useValue } from '../parts/use-value.ts'
import {
  asServiceError,
  isAbort,
  type Rows,
  type ServiceError,
  TOO_LONG,
} from '../service/client.ts'
import { FIRST_PAGE, firstPageRequest, MOST_BYTES } from './requests.ts'
import type { RowsContext } from './rows-context.ts'
import { isKnownToBeLong, shortRows, type ShortRows } from './short-rows.ts'

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

export interface RowsAnswer {
  readonly loaded: LoadedRows | null
  readonly isWaiting: boolean
  readonly more: () => void
  readonly again: () => void
}

const NEXT_PAGE = 200
/** A next link belongs to a snapshot that the service has dropped. */
const GONE_SNAPSHOT = 410

export function useRows({ set, state }: RowsContext): RowsAnswer {
  const page = usePage()
  const request = firstPageRequest(state)
  const [loaded, setLoaded] = useState<LoadedRows | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [isWaiting, setIsWaiting] = useState(true)
  const next = useRef<string | undefined>(undefined)
  const shortened = useRef<Partial<ShortRows> | null>(null)
  const snapshot = useRef<string | undefined>(undefined)
  const leaving = useRef(new AbortController())
  const times = useValue(page.returns)
  const returns = loaded?.error?.status === 0 ? times : 0

  const load = (link: string | null, isFromTheTop: boolean) => {
    const { signal } = leaving.current
    setIsWaiting(true)
    const pageSize = link === null ? FIRST_PAGE : NEXT_PAGE
    const short = shortened.current
    const mostBytes = short === null ? MOST_BYTES : Infinity
    const asked = link ?? short?.request ?? request
    page.service.rows(asked, { signal, pageSize, mostBytes }).then(
      (answer) => {
        if (signal.aborted) return
        const isOther = link !== null && answer.snapshot !== snapshot.current
        if (isOther) return fromTheTop()
        snapshot.current = answer.snapshot
        next.current = answer.next
        setIsWaiting(false)
        const page = { request, answer, short, isFirst: link === null, isFromTheTop }
        setLoaded((before) => withPage(before, page))
      },
      (error: unknown) => {
        if (signal.aborted || isAbort(error)) return
        const failure = asServiceError(error)
        if (link !== null && failure.status === GONE_SNAPSHOT) return fromTheTop()
        if (failure.status === TOO_LONG) return shorten(link, isFromTheTop)
        next.current = link ?? undefined
        setIsWaiting(false)
        setLoaded((before) => failed(before, request, failure))
      },
    )
  }
  const fromTheTop = () => {
    shortened.current = null
    load(null, true)
  }
  /** The rows that are there stay, and those after them come with the beginnings of their values. */
  const shorten = (link: string | null, isFromTheTop: boolean) => {
    const here = link === null ? 0 : (loaded?.rows.length ?? 0)
    const short = shortRows(set, state, here) ?? { request: link ?? request }
    shortened.current = short
    load(link === null ? null : short.request, isFromTheTop)
  }

  useLayoutEffect(() => {
    leaving.current = new AbortController()
    next.current = undefined
    // To make a megabyte of JSON takes the service longer than to notice here that it is one.
    shortened.current = isKnownToBeLong(page.catalog, set)
      ? (shortRows(set, state, 0) ?? null)
      : null
    load(null, false)
    return () => leaving.current.abort()
  }, [request, attempt, returns])

  const more = () => {
    const link = next.current
    if (link === undefined || isWaiting) return
    next.current = undefined
    load(link, false)
  }
  const again = useCallback(() => setAttempt((count) => count + 1), [])
  return { loaded, isWaiting, more, again }
}

interface PageOfRows {
  readonly request: string
  readonly answer: Rows
  readonly short: Partial<ShortRows> | null
  /** They do not go on from those before. */
  readonly isFirst: boolean
  readonly isFromTheTop: boolean
}

function withPage(
  before: LoadedRows | null,
  { request, answer, short, isFirst, isFromTheTop }: PageOfRows,
): LoadedRows {
  const rows = short?.read?.(answer.value) ?? answer.value
  return {
    of: request,
    short: short?.read && short.request,
    beginning: (before?.beginning ?? 0) + (isFirst ? 1 : 0),
    rows: isFirst || before === null ? rows : [...before.rows, ...rows],
    count: isFirst ? answer.count : before?.count,
    isComplete: answer.next === undefined,
    error: null,
    isFromTheTop: isFromTheTop || (!isFirst && before?.isFromTheTop === true),
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
