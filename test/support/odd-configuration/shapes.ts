// Bad projects, each made of a good one by a change or two that follow from a seed alone.

import { type Chance, chanceOf, type Change } from './change.ts'
import { setting, somewhere } from './config.ts'
import { body, bytes, dotEnv, header, more, place, seed } from './files.ts'
import { state } from './state.ts'

/** Some count more than once: there is more that can be wrong. */
const kinds: readonly ((chance: Chance) => Change)[] = [
  [setting, setting, setting, somewhere, somewhere, bytes, bytes, dotEnv],
  [header, header, body, body, seed, place, more, state, state],
].flat()

export function changesOf(number: number): readonly Change[] {
  const chance = chanceOf(number)
  const count = chance.below(4) === 0 ? 2 : 1
  return Array.from({ length: count }, () => chance.pick(kinds)(chance))
}
