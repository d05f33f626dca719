// Which view an address shows. The part after the question mark is the OData query of the view, kept as text.

import { decoded, encodeKey } from './options.ts'

export type Route =
  | { readonly view: 'home' | 'runs' }
  | { readonly view: 'rows' | 'columns' | 'chart'; readonly set: string; readonly query: string }
  | { readonly view: 'row'; readonly set: string; readonly key: string; readonly query: string }
  | { readonly view: 'lineage' | 'connect'; readonly query: string }
  | { readonly view: 'run'; readonly id: string }
  | { readonly view: 'board'; readonly name: string }
  | { readonly view: 'lost'; readonly path: string }

export type ViewName = Route['view']

export type SetRoute = Extract<Route, { set: string }>

/** `path` begins with a slash and is relative to the root of the page; `query` may begin with a question mark. */
export function readRoute(path: string, query = ''): Route {
  const rest = query.replace(/^\?/, '')
  const [first, second, third, ...more] = path.replace(/\/$/, '').split('/').slice(1)
  const lost = { view: 'lost', path } as const
  if (more.length > 0) return lost
  if (first === undefined || first === '') return { view: 'home' }
  if (first === 'sets' && second !== undefined) return setRoute(second, third, rest) ?? lost
  if (third !== undefined) return lost
  if (first === 'runs') {
    return second === undefined ? { view: 'runs' } : { view: 'run', id: decoded(second) }
  }
  if (first === 'boards' && second !== undefined) return { view: 'board', name: decoded(second) }
  if (second !== undefined) return lost
  return first === 'lineage' || first === 'connect' ? { view: first, query: rest } : lost
}

/** `root` ends with a slash. Undefined for an address of another server, or of what the server has besides the page. */
export function routeAt(root: URL, { origin, pathname, search }: URL): Route | undefined {
  if (origin !== root.origin || !pathname.startsWith(root.pathname)) return undefined
  const path = pathname.slice(root.pathname.length - 1)
  if (/^\/(?:odata|explorer|catalog\.json|boards\.json|health|metrics)(?:\/|$)/.test(path))
    return undefined
  return readRoute(path, search)
}

/** Relative to the root of the page, with a slash at the beginning. */
export function writeRoute(route: Route): string {
  const query = 'query' in route && route.query !== '' ? `?${route.query}` : ''
  const set = 'set' in route ? `/sets/${encodeURIComponent(route.set)}` : ''
  switch (route.view) {
    case 'home':
      return '/'
    case 'rows':
      return set + query
    case 'row':
      return `${set}(${encodeKey(route.key)})${query}`
    case 'run':
      return `/runs/${encodeURIComponent(route.id)}`
    case 'board':
      return `/boards/${encodeURIComponent(route.name)}`
    case 'lost':
      return route.path
    default:
      return `${set}/${route.view}${query}`
  }
}

export function setOf(route: Route): string | undefined {
  return 'set' in route ? route.set : undefined
}

function setRoute(segment: string, tab: string | undefined, query: string): Route | undefined {
  const match = /^([^(]+)(?:\((.*)\))?$/s.exec(decoded(segment))
  if (match === null) return undefined
  const [, set = '', key] = match
  if (key !== undefined) return tab === undefined ? { view: 'row', set, key, query } : undefined
  if (tab === undefined) return { view: 'rows', set, query }
  return tab === 'columns' || tab === 'chart' ? { view: tab, set, query } : undefined
}
