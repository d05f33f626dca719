// A value that several components show, and that is changed from anywhere.

export interface ReadonlyState<T> {
  readonly value: T
  /** Returns what ends it. */
  listen(changed: () => void): () => void
}

export interface State<T> extends ReadonlyState<T> {
  value: T
}

export function state<T>(first: T): State<T> {
  const listeners = new Set<() => void>()
  let current = first
  return {
    get value() {
      return current
    },
    set value(next) {
      if (Object.is(next, current)) return
      current = next
      for (const changed of listeners) changed()
    },
    listen(changed) {
      listeners.add(changed)
      return () => void listeners.delete(changed)
    },
  }
}
