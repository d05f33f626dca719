import type { RefObject } from 'preact'
import { useEffect, useState } from 'preact/hooks'

/** Pixels that an element is wide, so that a picture can be drawn without scaling its text. 0 until it is known. */
export function useWidth(element: RefObject<Element | null>): number {
  const [width, setWidth] = useState(0)
  useEffect(() => {
    if (element.current === null) return undefined
    const observer = new ResizeObserver((entries) =>
      setWidth(Math.floor(entries.at(-1)?.contentRect.width ?? 0)),
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return width
}
