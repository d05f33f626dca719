import { LEAST_WIDTH_PX, MOST_WIDTH_PX, setWidth } from './widths.ts'

export interface ResizeHandleProps {
  readonly set: string
  readonly column: string
  readonly widthPx: number
}

const STEP_PX = 16

/** Dragged with a pointer, or moved with arrows. */
export function ResizeHandle({ set, column, widthPx }: ResizeHandleProps) {
  const drag = (event: PointerEvent) => {
    const handle = event.currentTarget as HTMLElement
    const fromPx = event.clientX
    handle.setPointerCapture(event.pointerId)
    handle.onpointermove = (move) => setWidth(set, column, widthPx + move.clientX - fromPx)
    handle.onpointerup = () => {
      handle.onpointermove = null
    }
    event.preventDefault()
  }
  return (
    <div
      class="resize"
      role="separator"
      tabIndex={-1}
      aria-orientation="vertical"
      aria-label={`Width of ${column}`}
      aria-valuenow={widthPx}
      aria-valuemin={LEAST_WIDTH_PX}
      aria-valuemax={MOST_WIDTH_PX}
      onPointerDown={drag}
      onKeyDown={({ key }) => {
        if (key === 'ArrowLeft') setWidth(set, column, widthPx - STEP_PX)
        if (key === 'ArrowRight') setWidth(set, column, widthPx + STEP_PX)
      }}
    />
  )
}
