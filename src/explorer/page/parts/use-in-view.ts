import { useEffect, useState } from 'preact/hooks'
import type { RefObject } from 'preact'

/** Begins a little before an element comes into view, so that most of it is there by then. */
const MARGIN = '160px'

/** Whether an element is in view, or nearly. */
export function useInView(element: RefObject<Element | null>): boolean {
  const [isInView, setInView] = useState(false)
  useEffect(() => {
    if (element.current === null) return undefined
    const observer = new IntersectionObserver(
      (entries) => setInView(entries.at(-1)?.isIntersecting ?? false),
      { rootMargin: MARGIN },
    )
    observer.observe(element.current)
    return () => observer.disconnect()
  }, [])
  return isInView
}
