// The house's list of words, and where one of them is used.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'

const RULES = readFileSync(join(import.meta.dirname, 'words.txt'), 'utf8')
  .split('\n')
  .filter((line) => line.includes('=>'))
  .map((line) => {
    const [pattern, better] = line.split(' => ')
    return { pattern: new RegExp(pattern, 'gi'), better }
  })

/** Places in one text, whose lines keep their numbers. */
export function wordsIn(text) {
  return RULES.flatMap(({ pattern, better }) =>
    [...text.matchAll(pattern)].map((match) => ({
      line: text.slice(0, match.index).split('\n').length,
      rule: 'words',
      problem: match[0].replaceAll(/\s+/g, ' '),
      advice: better,
    })),
  )
}
