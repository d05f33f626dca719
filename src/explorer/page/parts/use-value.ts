import { useLayoutEffect, useState } from 'preact/hooks'
import type { ReadonlyState } from './state.ts'

/** In a component: its value, and the component is drawn again when it changes. */
export function useValue<T>(of: ReadonlyState<T>): T {
  const [, redraw] = useState(of.value)
  useLayoutEffect(() => {
    redraw(() => of.value)
    return of.listen(() => redraw(() => of.value))
  }, [of])
  return of.value
}
