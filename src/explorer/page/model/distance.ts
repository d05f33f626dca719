// How far what was typed is from a name, so that a typing error still finds it.

import { editDistance } from '../../../core/edit-distance.ts'

/** Whether so many letters were typed wrong at most. */
export const isNear = (a: string, b: string, most: number): boolean =>
  Math.abs(a.length - b.length) <= most && editDistance(a, b) <= most

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
    .map((name) => ({ name, far: editDistance(name.toLowerCase(), low) }))
    .filter(({ far }) => far <= most)
    .toSorted((a, b) => a.far - b.far)
    .map(({ name }) => name)
    .slice(0, 3)
}
