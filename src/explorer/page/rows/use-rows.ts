// The rows of an address, page by page as one scrolls.

import { useCallback, useEffect, useRef, useState } from 'preact/hooks'
import type { Row } from '../model/value.ts'
import { useValue } from '../parts/state.ts'
import type { Page } from '../page.ts'
import { isAbort, ServiceError } from '../service/client.ts'

export interface LoadedRows {
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
}

export interface RowsAnswer {
  readonly loaded: LoadedRows | null
  readonly isWaiting: boolean
  readonly more: () => void
  readonly again: () => void
}

const FIRST_PAGE = 100
const NEXT_PAGE = 200
/** A next link belongs to a snapshot that the service has dropped. */
const GONE_SNAPSHOT = 410

export function useRows(page: Page, request: string): RowsAnswer {
  const [loaded, setLoaded] = useState<LoadedRows | null>(null)
  const [attempt, setAttempt] = useState(0)
  const [isWaiting, setIsWaiting] = useState(true)
  const next = useRef<string | undefined>(undefined)
  const leaving = useRef(new AbortController())
  const times = useValue(page.returns)
  const returns = loaded?.error?.status === 0 ? times : 0

  const load = (link: string | null, isFromTheTop: boolean) => {
    const { signal } = leaving.current
    setIsWaiting(true)
    const pageSize = link === null ? FIRST_PAGE : NEXT_PAGE
    page.service.rows(link ?? request, { signal, pageSize }).then(
      (answer) => {
        if (signal.aborted) return
        next.current = answer.next
        setIsWaiting(false)
        setLoaded((before) => ({
          of: request,
          beginning: (before?.beginning ?? 0) + (link === null ? 1 : 0),
          rows: link === null || before === null ? answer.value : [...before.rows, ...answer.value],
          count: link === null ? answer.count : before?.count,
          isComplete: answer.next === undefined,
          error: null,
          isFromTheTop: isFromTheTop || (link !== null && before?.isFromTheTop === true),
        }))
      },
      (error: unknown) => {
        if (signal.aborted || isAbort(error)) return
        const failure = asFailure(error)
        if (link !== null && failure.status === GONE_SNAPSHOT) return load(null, true)
        next.current = link ?? undefined
        setIsWaiting(false)
        setLoaded((before) => failed(before, request, failure))
      },
    )
  }

  useEffect(() => {
    leaving.current = new AbortController()
    next.current = undefined
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
  }
}

function asFailure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  return new ServiceError(-1, 'unexpected', String(error), undefined)
}
