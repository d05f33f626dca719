// The address of the page as a value that changes, without a library: History API, and clicks on its own links.

import { state, type ReadonlyState } from './parts/state.ts'
import { routeAt, writeRoute, type Route } from './address/route.ts'

export class AddressBar {
  readonly route: ReadonlyState<Route>
  readonly #route = state<Route>({ view: 'home' })
  /** Ends with a slash: what the server is reached by, with the prefix of a proxy before it. */
  readonly #root: URL

  constructor(root: URL) {
    this.#root = root
    this.route = this.#route
    this.#read()
  }

  /** Returns what ends it. */
  listen(): () => void {
    const read = () => this.#read()
    const click = (event: MouseEvent) => this.#follow(event)
    addEventListener('popstate', read)
    document.addEventListener('click', click)
    return () => {
      removeEventListener('popstate', read)
      document.removeEventListener('click', click)
    }
  }

  href(route: Route): string {
    return this.#root.pathname.replace(/\/$/, '') + writeRoute(route)
  }

  navigate(route: Route, how: 'push' | 'replace' = 'push'): void {
    const href = this.href(route)
    if (how === 'replace') history.replaceState(null, '', href)
    else if (href !== location.pathname + location.search) history.pushState(null, '', href)
    this.#read()
  }

  #read(): void {
    this.#route.value = routeAt(this.#root, new URL(location.href)) ?? { view: 'home' }
  }

  /** A plain click on a link of the page. With a modifier, or to be saved, it is the browser's. */
  #follow(event: MouseEvent): void {
    if (event.defaultPrevented || event.button !== 0) return
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    const link = event.target instanceof Element ? event.target.closest('a') : null
    if (link === null || link.hasAttribute('target') || link.hasAttribute('download')) return
    // Links in drawings have no `href` that is a text.
    const href = link.getAttribute('href')
    if (href === null || href.startsWith('#')) return
    const route = routeAt(this.#root, new URL(href, location.href))
    if (route === undefined) return
    event.preventDefault()
    this.navigate(route)
  }
}
