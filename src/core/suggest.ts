// "did you mean": the nearest of a few known words.

import { editDistance } from './edit-distance.ts'
import { limits } from './limits.ts'

/**
 * The candidate with the fewest edits, when they are few for its length; null when nothing is near. Long words have no
 * neighbours: the time that it takes is the product of the two lengths, and either may come from a caller. `edits` is
 * the greatest number of them.
 */
export function nearest(
  word: string,
  candidates: Iterable<string>,
  edits: number = word.length < 2 ? 0 : Math.max(1, Math.floor(word.length / 3)),
): string | null {
  if (word.length > limits.suggestionLength) return null
  const folded = word.toLowerCase()
  let best: string | null = null
  let bestDistance = edits + 1
  for (const candidate of candidates) {
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue
    const distance = editDistance(folded, candidate.toLowerCase())
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance]
  }
  return best
}

export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  const found = nearest(word, candidates)
  return found === null ? undefined : `did you mean "${found}"?`
}
