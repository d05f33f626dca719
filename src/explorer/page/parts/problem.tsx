import { Button } from './button.tsx'
import type { ComponentChildren } from 'preact'
import type { ServiceError } from '../service/client.ts'

interface ProblemProps {
  readonly error: ServiceError
  readonly again: () => void
}

/** Stands where the answer would: what went wrong, in the words of the service, and a button to ask again. */
export function ProblemNote({ error, again }: ProblemProps) {
  return (
    <div class="problem" role="alert">
      <p>
        <strong>{headline(error)}</strong>
      </p>
      {error.status === 401 && (
        <p>
          Ask for a new one where this one came from. Then load the page again: the browser asks for
          it, with any user and the token as the password.
        </p>
      )}
      {error.message !== headline(error) && <p class="problem-words">{error.message}</p>}
      <Button onClick={again}>again</Button>
    </div>
  )
}

function headline({ status, message }: ServiceError): string {
  if (status === 504) return 'This took longer than the service allows.'
  if (status === 503) return 'The service has too much to do at the moment.'
  if (status === 410) return 'New data came.'
  if (status === 401) return 'The service no longer takes your token.'
  return message
}

interface BannerProps {
  readonly tone: 'news' | 'warning' | 'bad'
  readonly children: ComponentChildren
}

/** One line above the page that matters to all of it. */
export function Banner({ tone, children }: BannerProps) {
  return (
    <div class={`banner banner-${tone}`} role={tone === 'bad' ? 'alert' : 'status'}>
      {children}
    </div>
  )
}
