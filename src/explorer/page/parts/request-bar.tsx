import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'
import { usePage } from '../page.ts'

interface RequestBarProps {
  /** Relative to the root of the service. It is shown as the whole URL, as any tool takes it. */
  readonly request: string
  /** For who does not see where it stands, where a view has several: "Request of the histogram of price". */
  readonly name?: string
  /** More buttons and links after Copy. */
  readonly children?: ComponentChildren
}

/** The request that gave a number or a picture, whole and ready to copy. */
export function RequestBar({ request, name = 'Request', children }: RequestBarProps) {
  const url = usePage().service.url(request)
  return (
    <div class="request-bar">
      <span class="request-label" aria-hidden="true">
        Request
      </span>
      <input
        type="text"
        class="request-url"
        readOnly
        aria-label={name}
        value={url}
        onFocus={(event) => event.currentTarget.select()}
      />
      <CopyButton text={url} name={name === 'Request' ? 'Copy the request' : `Copy ${name}`} />
      {children}
    </div>
  )
}

export interface NamedRequest {
  readonly what: string
  /** Relative to the root of the service. */
  readonly request: string
}

/** The requests that gave several small numbers, which have no room for a request each. */
export function RequestList({ requests }: { requests: readonly NamedRequest[] }) {
  return (
    <details class="request-list">
      <summary>Requests</summary>
      {requests.map(({ what, request }) => (
        <RequestBar key={what} request={request} name={what} />
      ))}
    </details>
  )
}
