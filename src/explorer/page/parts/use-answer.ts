// One request of a component: asked when it appears, given up when it leaves, asked again on demand.

import { useCallback, useEffect, useState } from 'preact/hooks'
import { usePage } from '../page.ts'
import {
  type AnswerOptions,
  asServiceError,
  isAbort,
  type Rows,
  type Service,
  type ServiceError,
} from '../service/client.ts'
import type { Row } from '../model/schema.ts'
import { useValue } from './use-value.ts'

export type AnswerState<T> =
  | { readonly state: 'waiting'; readonly again: () => void }
  | { readonly state: 'here'; readonly value: T; readonly again: () => void }
  | { readonly state: 'failed'; readonly error: ServiceError; readonly again: () => void }

type Outcome<T> = { readonly of: string } & (
  { readonly value: T } | { readonly error: ServiceError }
)

export type Ask<T> = (
  service: Service,
  request: string,
  options: AnswerOptions & { readonly signal: AbortSignal },
) => Promise<T>

export const askRows: Ask<Rows> = (service, request, options) => service.rows(request, options)
export const askObject: Ask<Row> = (service, request, options) => service.object(request, options)
export const askText: Ask<string> = (service, request, options) => service.text(request, options)

/**
 * `request` is also what the answer is known by: while it is the same, nothing is asked again; null asks nothing.
 * `ask` may be a new function in each rendering. `turn`: nobody has asked for it, so that others go first; `next` for
 * what ends something that has begun.
 */
export function useAnswer<T>(
  request: string | null,
  ask: Ask<T>,
  turn?: 'last' | 'next',
): AnswerState<T> {
  const page = usePage()
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
    const run = () => ask(page.service, request, { signal })
    const answered = turn === undefined ? run() : page.semaphore.run(run, signal, turn)
    answered.then(
      (value) => signal.aborted || setOutcome({ of: request, value }),
      (error: unknown) => {
        if (!signal.aborted && !isAbort(error))
          setOutcome({ of: request, error: asServiceError(error) })
      },
    )
    return () => leaving.abort()
  }, [request, attempt, returns])

  if (outcome === null || outcome.of !== request) return { state: 'waiting', again }
  return 'error' in outcome
    ? { state: 'failed', error: outcome.error, again }
    : { state: 'here', value: outcome.value, again }
}
