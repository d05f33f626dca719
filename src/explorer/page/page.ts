import { type ComponentType, createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { ShownBoard } from '../../core/boards.ts'
import type { Catalog, Changes } from '../../core/catalog.ts'
import type { Schema } from './model/schema.ts'
import type { Route, ViewName } from './address/route.ts'
import type { ReadonlyState } from './parts/state.ts'
import type { ServiceHealth } from './service/health.ts'
import type { Semaphore, Service } from './service/client.ts'

export interface Page {
  readonly schema: Schema
  /** What a branch changes, by model; in the file of `eider docs` alone. */
  readonly changes?: Changes
  /** Null while the service has none, as for a snapshot of an older version. */
  readonly catalog: Catalog | null
  /** They come after the page is there. */
  readonly boards: ReadonlyState<readonly ShownBoard[] | null>
  /** Files of boards that the service has not read, because they are too many. */
  readonly omittedBoards: ReadonlyState<number>
  /** The tokens with names that read each set, as far as they are told. */
  readonly readers: () => Promise<Readonly<Record<string, readonly string[]>>>
  readonly service: Service
  /** For requests that are not what a person has asked for, such as profiles: two at a time. */
  readonly semaphore: Semaphore
  readonly health: ReadonlyState<ServiceHealth | null>
  /** Counts up when a server that was gone is back: what failed is asked for again. */
  readonly returns: ReadonlyState<number>
  /** For the `href` of a link. A click on it changes the view without loading the page. */
  href(route: Route): string
  /** `replace` for what does not count as a step, such as a letter typed into a filter. */
  navigate(route: Route, how?: 'push' | 'replace'): void
}

const context = createContext<Page | null>(null)

export const PageProvider = context.Provider

export const usePage = (): Page => useContext(context)!

/** One kind of address may stand for several views, so its own name is put in. */
type RouteOf<V extends ViewName, R extends Route = Route> = R extends Route
  ? V extends R['view']
    ? R & { readonly view: V }
    : never
  : never

export interface ViewProps<V extends ViewName = ViewName> {
  readonly route: RouteOf<V>
}

export type View<V extends ViewName = ViewName> = ComponentType<ViewProps<V>>
