// How far what was typed is from a name, so that a typing error still finds it.

/** Letters to be inserted, removed, replaced or swapped with the next one; `most` + 1 for more than `most`. */
export function letterDistance(a: string, b: string, most: number): number {
  if (Math.abs(a.length - b.length) > most) return most + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, i) => i)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const isSame = a[i - 1] === b[j - 1]
      let least = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isSame ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1])
        least = Math.min(least, before[j - 2]! + 1)
      next.push(least)
    }
    before = row
    row = next
  }
  return Math.min(row[b.length]!, most + 1)
}

/** Two errors in a long word, one in a shorter one, and none in what has three letters. */
export const errorsIn = (word: string): number => (word.length < 4 ? 0 : word.length < 6 ? 1 : 2)

/** Names like the one that was written, the nearest first. */
export function nearestNames(
  names: readonly string[],
  wanted: string,
  most = 3,
): readonly string[] {
  const low = wanted.toLowerCase()
  return names
    .map((name) => ({ name, far: letterDistance(name.toLowerCase(), low, most) }))
    .filter(({ far }) => far <= most)
    .toSorted((a, b) => a.far - b.far)
    .map(({ name }) => name)
    .slice(0, 3)
}
