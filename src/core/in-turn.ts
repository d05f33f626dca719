// Work of one process that must not overlap.

export type InTurn = <T>(work: () => Promise<T>) => Promise<T>

/** A line in which each piece of work begins when the one before it has ended, however that ended. */
export function newLine(): InTurn {
  let last: Promise<unknown> = Promise.resolve()
  return (work) => {
    const turn = last.then(work)
    last = turn.catch(() => {})
    return turn
  }
}
