import type { ComponentChildren } from 'preact'
import { encodeOption } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { usePage } from '../page.ts'
import { ago, localTime, showTime } from '../model/show.ts'

interface LinkProps {
  readonly to: Route
  readonly class?: string
  readonly current?: boolean
  /** -1: keys do not stop at it. Written so because links in drawings know no other spelling. */
  readonly tabindex?: number
  readonly children: ComponentChildren
}

/** An ordinary link, which can be opened in a tab, copied and bookmarked; `app` keeps a click from loading the page. */
export function Link({ to, current, children, ...attributes }: LinkProps) {
  return (
    <a
      href={usePage().href(to)}
      {...attributes}
      aria-current={current === true ? 'page' : undefined}
    >
      {children}
    </a>
  )
}

/** To a model among those that it reads and that read it. */
export function ModelLink({
  model,
  children = <bdi>{model}</bdi>,
  ...props
}: Partial<Omit<LinkProps, 'to'>> & { readonly model: string }) {
  const to = { view: 'lineage', query: `model=${encodeOption(model)}` } as const
  return (
    <Link {...props} to={to}>
      {children}
    </Link>
  )
}

export function SetLink({
  set,
  children = <bdi>{set}</bdi>,
  ...props
}: Partial<Omit<LinkProps, 'to'>> & { readonly set: string }) {
  return (
    <Link {...props} to={{ view: 'rows', set, query: '' }}>
      {children}
    </Link>
  )
}

/** How long ago; the time itself for a pointer. */
export function Ago({ at, title = localTime(at) }: { at: string; title?: string | undefined }) {
  return (
    <time dateTime={at} title={title}>
      {ago(Date.parse(at), Date.now())}
    </time>
  )
}

/** A time in UTC to the second; that of the browser for a pointer. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={localTime(at)}>
      {showTime(at).replace(/\.\d+Z$/, 'Z')}
    </time>
  )
}
