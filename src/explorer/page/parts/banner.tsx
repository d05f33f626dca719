import type { ComponentChildren } from 'preact'

export interface BannerProps {
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
