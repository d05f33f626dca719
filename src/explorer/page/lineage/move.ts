// Ways through the picture: by arrow keys from node to node, by dragging with a mouse.

import type { RefObject } from 'preact'
import { useEffect } from 'preact/hooks'
import { costsOf, directions, type Point } from './nearest.ts'

/** The nearest link in the direction of an arrow key gets the focus. */
export function moveByKey(event: KeyboardEvent): void {
  const direction = directions[event.key]
  const picture = event.currentTarget as SVGElement
  const from = (event.target as Element).closest('a')
  if (direction === undefined || from === null || event.altKey || event.ctrlKey || event.metaKey)
    return
  const start = middleOf(from)
  const others = [...picture.querySelectorAll<SVGAElement>('a[href]')]
    .filter((link) => link !== (from as Element))
    .map((link) => ({ link, costs: costsOf(start, middleOf(link), direction) }))
    .filter(({ costs }) => costs < Infinity)
  event.preventDefault()
  if (others.length === 0) return
  const { link } = others.reduce((best, one) => (one.costs < best.costs ? one : best))
  link.focus({ preventScroll: true })
  link.scrollIntoView({ block: 'nearest', inline: 'nearest' })
}

function middleOf(element: Element): Point {
  const { left, top, width, height } = element.getBoundingClientRect()
  return { x: left + width / 2, y: top + height / 2 }
}

/** So far a pointer may move in a click. */
const CLICK = 4

/** A mouse that is held moves what the frame shows; what it lets go on is not clicked then. */
export function usePan(place: RefObject<HTMLElement | null>): void {
  useEffect(() => {
    const frame = place.current
    if (frame === null) return undefined
    let start: { x: number; y: number; left: number; top: number } | null = null
    let hasMoved = false
    const down = ({ pointerType, button, clientX, clientY }: PointerEvent) => {
      hasMoved = false
      if (pointerType !== 'mouse' || button !== 0) return
      start = { x: clientX, y: clientY, left: frame.scrollLeft, top: frame.scrollTop }
    }
    const move = ({ clientX, clientY }: PointerEvent) => {
      if (start === null) return
      const [dx, dy] = [clientX - start.x, clientY - start.y]
      if (!hasMoved && Math.abs(dx) + Math.abs(dy) <= CLICK) return
      hasMoved = true
      frame.scrollTo(start.left - dx, start.top - dy)
    }
    const up = () => {
      start = null
    }
    const click = (event: MouseEvent) => {
      if (hasMoved) event.preventDefault()
      if (hasMoved) event.stopPropagation()
      hasMoved = false
    }
    const drag = (event: DragEvent) => event.preventDefault()
    const listening = new AbortController()
    const { signal } = listening
    frame.addEventListener('pointerdown', down, { signal })
    window.addEventListener('pointermove', move, { signal })
    window.addEventListener('pointerup', up, { signal })
    window.addEventListener('pointercancel', up, { signal })
    frame.addEventListener('click', click, { signal, capture: true })
    frame.addEventListener('dragstart', drag, { signal })
    return () => listening.abort()
  }, [place])
}
