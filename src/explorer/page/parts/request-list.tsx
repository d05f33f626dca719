import type { Page } from '../page.ts'
import { RequestBar } from './request-bar.tsx'

export interface NamedRequest {
  readonly what: string
  /** Relative to the root of the service. */
  readonly request: string
}

/** The requests behind several small numbers, which have no room for them beside each. */
export function RequestList({ page, requests }: { page: Page; requests: readonly NamedRequest[] }) {
  return (
    <details class="request-list">
      <summary>Requests</summary>
      {requests.map(({ what, request }) => (
        <RequestBar key={what} url={page.service.url(request)} name={what} />
      ))}
    </details>
  )
}
