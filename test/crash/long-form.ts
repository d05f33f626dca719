// The long form of these tests, EIDER_CRASH_POINTS=all: as many groups of kill points as are named here, so it ends. What
// a group tries depends on its number and on EIDER_CRASH_SEED alone; EIDER_CRASH_GROUPS=<first>-<last> tries some.

import { test } from 'uvu'

export const isLong = process.env['EIDER_CRASH_POINTS'] === 'all'
export const crashSeed = Number(process.env['EIDER_CRASH_SEED'] ?? 1)

/** `tryGroup` gives how many different points its lives were really cut at; a group is from 1 to `groups`. */
export function testGroups(
  groups: number,
  what: string,
  tryGroup: (group: number) => Promise<number>,
): void {
  const [first = 1, last = groups] = (process.env['EIDER_CRASH_GROUPS'] ?? '')
    .split('-')
    .filter((part) => part !== '')
    .map(Number)
  for (let group = first; group <= Math.min(last, groups); group++) {
    const name = `group ${group} of ${groups}, seed ${crashSeed}: ${what}`
    test(name, async () => {
      process.stdout.write(`${name}: ${await tryGroup(group)} different points\n`)
    })
  }
}
