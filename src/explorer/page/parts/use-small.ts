import { useLayoutEffect, useState } from 'preact/hooks'

/** Windows in which the head of a view would leave no room for its rows: narrow ones, and low ones, as at 200 %. */
const SMALL = '(max-width: 760px), (max-height: 560px)'

/** Whether what is used now and then stands behind a button. Style sheets ask for the same sizes. */
export function useSmall(): boolean {
  const [isSmall, setIsSmall] = useState(() => matchMedia(SMALL).matches)
  useLayoutEffect(() => {
    const query = matchMedia(SMALL)
    const changed = () => setIsSmall(query.matches)
    query.addEventListener('change', changed)
    return () => query.removeEventListener('change', changed)
  }, [])
  return isSmall
}
