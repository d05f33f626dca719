import type { ComponentChildren } from 'preact'
import { CopyButton } from './copy-button.tsx'

export interface RequestBarProps {
  /** The whole URL, as any tool takes it. */
  readonly url: string
  /** For who does not see where it stands, where a view has several: "Request of the histogram of price". */
  readonly name?: string
  /** More buttons and links behind Copy. */
  readonly children?: ComponentChildren
}

/** The request behind a number or a picture, whole and ready to copy. */
export function RequestBar({ url, name = 'Request', children }: RequestBarProps) {
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
