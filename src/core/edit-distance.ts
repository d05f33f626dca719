/** Insertions, deletions, substitutions and swaps of neighbours that make one word of the other. */
export function editDistance(a: string, b: string): number {
  let beforePrevious: number[] = []
  let previous = Array.from({ length: b.length + 1 }, (_, j) => j)
  for (let i = 1; i <= a.length; i++) {
    const current = [i]
    for (let j = 1; j <= b.length; j++) {
      const substitution = previous[j - 1]! + (a[i - 1] === b[j - 1] ? 0 : 1)
      let cost = Math.min(previous[j]! + 1, current[j - 1]! + 1, substitution)
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]
      if (swapped) cost = Math.min(cost, beforePrevious[j - 2]! + 1)
      current.push(cost)
    }
    beforePrevious = previous
    previous = current
  }
  return previous[b.length]!
}
