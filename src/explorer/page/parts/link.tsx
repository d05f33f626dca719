import type { ComponentChildren } from 'preact'
import type { Route } from '../address/route.ts'
import type { Page } from '../page.ts'

export interface LinkProps {
  readonly page: Page
  readonly to: Route
  readonly class?: string
  readonly current?: boolean
  readonly children: ComponentChildren
}

/** An ordinary link, so that it can be opened beside, copied and bookmarked; `app` keeps a click from loading the page. */
export function Link({ page, to, class: className, current, children }: LinkProps) {
  return (
    <a href={page.href(to)} class={className} aria-current={current === true ? 'page' : undefined}>
      {children}
    </a>
  )
}
