import { useRef } from 'preact/hooks'

/** So far a pointer may slip while it clicks. */
const SLIP_PX = 6

export interface Drag {
  readonly start: (event: PointerEvent) => void
  /** Whether what looks like a click now ends a drag. */
  readonly wasDragged: () => boolean
}

/** A header that is dragged onto another one. A finger scrolls the table instead. */
export function useDrag(drop: (onto: string) => void): Drag {
  const isDragged = useRef(false)
  const start = (event: PointerEvent) => {
    isDragged.current = false
    if (event.button !== 0 || event.pointerType === 'touch') return
    const fromPx = event.clientX
    const leaving = new AbortController()
    const { signal } = leaving
    let target: HTMLElement | null = null
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (Math.abs(clientX - fromPx) > SLIP_PX) isDragged.current = true
      if (!isDragged.current) return
      target?.classList.remove('drop')
      const under = document.elementFromPoint(clientX, clientY)
      target = under?.closest<HTMLElement>('th[data-name]') ?? null
      target?.classList.add('drop')
    }
    const end = () => {
      leaving.abort()
      target?.classList.remove('drop')
      const onto = target?.dataset['name']
      if (onto !== undefined) drop(onto)
    }
    addEventListener('pointermove', move, { signal })
    addEventListener('pointerup', end, { signal })
    addEventListener('pointercancel', () => leaving.abort(), { signal })
  }
  return { start, wasDragged: () => isDragged.current }
}
