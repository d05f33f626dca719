// One request of a component: asked when it appears, given up when it leaves, asked again on demand.

import { useCallback, useEffect, useState } from 'preact/hooks'
import type { Page } from '../page.ts'
import { isAbort, ServiceError, type AnswerOptions } from '../service/client.ts'
import { useValue } from './use-value.ts'
import type { TaskRunner } from '../service/semaphore.ts'

export type Answer<T> =
  | { readonly state: 'waiting'; readonly again: () => void }
  | { readonly state: 'here'; readonly value: T; readonly again: () => void }
  | { readonly state: 'failed'; readonly error: ServiceError; readonly again: () => void }

type Outcome<T> = { readonly of: string } & (
  { readonly value: T } | { readonly error: ServiceError }
)

/**
 * `request` is also what the answer is known by: while it is the same, nothing is asked again; null asks nothing.
 * `ask` may be a new function in each rendering.
 */
export function useAnswer<T>(
  page: Page,
  request: string | null,
  ask: (request: string, options: AnswerOptions & { signal: AbortSignal }) => Promise<T>,
  semaphore?: TaskRunner,
): Answer<T> {
  const [outcome, setOutcome] = useState<Outcome<T> | null>(null)
  const [attempt, setAttempt] = useState(0)
  const again = useCallback(() => {
    setOutcome(null)
    setAttempt((count) => count + 1)
  }, [])
  const isGone = outcome !== null && 'error' in outcome && outcome.error.status === 0
  const times = useValue(page.returns)
  const returns = isGone ? times : 0

  useEffect(() => {
    if (request === null) return undefined
    const leaving = new AbortController()
    const { signal } = leaving
    const run = () => ask(request, { signal })
    const answered = semaphore === undefined ? run() : semaphore.run(run, signal)
    answered.then(
      (value) => signal.aborted || setOutcome({ of: request, value }),
      (error: unknown) => {
        if (!signal.aborted && !isAbort(error)) setOutcome({ of: request, error: failure(error) })
      },
    )
    return () => leaving.abort()
  }, [request, attempt, returns, semaphore])

  if (outcome === null || outcome.of !== request) return { state: 'waiting', again }
  return 'error' in outcome
    ? { state: 'failed', error: outcome.error, again }
    : { state: 'here', value: outcome.value, again }
}

/** An answer that is not what the page expects is shown like any other failure. */
function failure(error: unknown): ServiceError {
  if (error instanceof ServiceError) return error
  const message = error instanceof Error ? error.message : String(error)
  return new ServiceError(-1, 'unexpected', message, undefined)
}
