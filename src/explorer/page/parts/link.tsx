import type { ComponentChildren } from 'preact'
import { encodeOption } from '../address/options.ts'
import type { Route } from '../address/route.ts'
import { usePage } from '../page.ts'

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

/** To the rows of a set. */
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
