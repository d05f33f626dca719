import { useEffect, useRef, useState } from 'preact/hooks'
import type { Page } from '../page.ts'
import { Peek } from './peek.tsx'

interface Peeked {
  readonly set: string
  readonly key: string
  readonly leftPx: number
  readonly topPx: number
}

/** So long a pointer rests on a link before the row behind it is asked for. */
const REST_MS = 450
/** So long it may take from the link to what is shown. */
const LEAVE_MS = 250
const WIDTH_PX = 340

/** The row that a link leads to, while a pointer rests on it. Escape puts it away; the dialog of the cell has it too. */
export function HoverPeek({ page, within }: { page: Page; within: string }) {
  const [peeked, setPeeked] = useState<Peeked | null>(null)
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined)
  const later = (next: Peeked | null, ms: number) => {
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setPeeked(next), ms)
  }
  useEffect(() => {
    const over = ({ target }: Event) => {
      if (!(target instanceof Element)) return
      const link = target.closest<HTMLElement>(`${within} a[data-peek-set]`)
      if (link !== null) later(peekedAt(link), REST_MS)
      else if (target.closest('.hover-peek') !== null) clearTimeout(timer.current)
      else later(null, LEAVE_MS)
    }
    const away = (event: Event) => {
      if (event instanceof KeyboardEvent && event.key !== 'Escape') return
      later(null, 0)
    }
    document.addEventListener('pointerover', over)
    document.addEventListener('keydown', away)
    document.addEventListener('scroll', away, true)
    return () => {
      clearTimeout(timer.current)
      document.removeEventListener('pointerover', over)
      document.removeEventListener('keydown', away)
      document.removeEventListener('scroll', away, true)
    }
  }, [])
  if (peeked === null) return null
  const { set, key, leftPx, topPx } = peeked
  return (
    <div
      class="hover-peek"
      role="tooltip"
      style={{ left: `${leftPx}px`, top: `${topPx}px`, width: `${WIDTH_PX}px` }}
    >
      <p class="about">
        {set}({key})
      </p>
      <Peek page={page} set={set} keyText={key} />
    </div>
  )
}

function peekedAt(link: HTMLElement): Peeked {
  const { left, bottom, top } = link.getBoundingClientRect()
  const isLow = bottom > innerHeight * 0.6
  return {
    set: link.dataset['peekSet'] ?? '',
    key: link.dataset['peekKey'] ?? '',
    leftPx: Math.max(8, Math.min(left, innerWidth - WIDTH_PX - 8)),
    topPx: isLow ? Math.max(8, top - 300) : bottom + 6,
  }
}
