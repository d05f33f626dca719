import { useLayoutEffect, useState } from 'preact/hooks'
import { state, type ReadonlyState, type State } from './state.ts'

/** In a component: its value, and the component is drawn again when it changes. */
export function useValue<T>(of: ReadonlyState<T>): T {
  const [, redraw] = useState(of.value)
  useLayoutEffect(() => {
    redraw(() => of.value)
    return of.listen(() => redraw(() => of.value))
  }, [of])
  return of.value
}

/** Listens for as long as the component is there, before anything that is asked later. */
export function useListener<K extends keyof DocumentEventMap>(
  type: K,
  listener: (event: DocumentEventMap[K]) => void,
  isCapturing = false,
): void {
  useLayoutEffect(() => {
    document.addEventListener(type, listener, isCapturing)
    return () => document.removeEventListener(type, listener, isCapturing)
  })
}

/** One of the two that the browser keeps: the theme, and the widths of columns. */
export function keptState<T>(
  key: string,
  read: (text: string) => T,
  write: (value: T) => string,
): State<T> {
  let text = ''
  try {
    text = localStorage.getItem(key) ?? ''
  } catch {
    // A browser that keeps nothing forgets it with the page.
  }
  const kept = state(read(text))
  kept.listen(() => {
    try {
      localStorage.setItem(key, write(kept.value))
    } catch {}
  })
  return kept
}
