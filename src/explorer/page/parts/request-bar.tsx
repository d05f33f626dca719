import { Button } from './button.tsx'
import type { ComponentChildren } from 'preact'
import { usePage } from '../page.ts'
import { useEffect, useState } from 'preact/hooks'

interface RequestBarProps {
  /** Relative to the root of the service. It is shown as the whole URL, as any tool takes it. */
  readonly request: string
  /** For who does not see where it stands, where a view has several: "Request of the histogram of price". */
  readonly name?: string
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

interface NamedRequest {
  readonly what: string
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

interface CopyButtonProps {
  readonly text: string
  /** What is copied, for who does not see it: "Copy the request". */
  readonly name?: string
  readonly label?: string
}

/** Says that it has copied, in words that a screen reader hears too. */
export function CopyButton({ text, name, label = 'Copy' }: CopyButtonProps) {
  const [said, setSaid] = useState<string | null>(null)
  useEffect(() => {
    if (said === null) return undefined
    const timer = setTimeout(() => setSaid(null), 2_000)
    return () => clearTimeout(timer)
  }, [said])
  const copy = () => void copyText(text).then((isDone) => setSaid(isDone ? 'Copied' : 'Select it'))
  return (
    <Button class="button copy" name={name} onClick={copy}>
      <span aria-live="polite">{said ?? label}</span>
    </Button>
  )
}

/** A page that came over plain HTTP from another machine has no clipboard of the newer kind. */
async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const field = document.createElement('textarea')
    field.value = text
    field.setAttribute('aria-hidden', 'true')
    document.body.append(field)
    field.select()
    const isDone = document.execCommand('copy')
    field.remove()
    return isDone
  }
}
