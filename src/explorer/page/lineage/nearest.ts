// What is nearest in the direction of an arrow key.

/** How much a step to the side costs, compared with one in the direction of the key. */
const ASIDE = 3

interface Direction {
  readonly x: -1 | 0 | 1
  readonly y: -1 | 0 | 1
}

export const directions: Readonly<Record<string, Direction>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
}

export interface Point {
  readonly x: number
  readonly y: number
}

export function costsOf(from: Point, to: Point, { x, y }: Direction): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y]
  const along = dx * x + dy * y
  const aside = Math.abs(dx * y) + Math.abs(dy * x)
  return along < 1 ? Infinity : along + ASIDE * aside
}
