// What each shell loads once. It asks eider for every word, so it knows nothing of commands itself.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDir } from '../../files/package.ts'
import type { Completions } from './complete.ts'

export const shells = ['bash', 'zsh', 'fish'] as const

export type Shell = (typeof shells)[number]

/** In all of them a first line `:file` or `:directory` leaves the word to the shell. */
export const scriptOf = (shell: Shell): string =>
  readFileSync(join(packageDir, 'templates', 'completion', shell), 'utf8')

/** Prints one candidate a line, as the script of the shell reads it. `typed`: the word so far. */
export function showProposal(
  { candidates, paths }: Completions,
  shell: Shell,
  typed: string,
): string {
  if (paths !== null) return `:${paths}`
  const lines = candidates
    .filter(({ value }) => !/[\n\r]/.test(value))
    .map(({ value, description }) => {
      const text = description?.replaceAll(/\s+/g, ' ')
      if (shell === 'bash') return value.slice(endOfBreaks(typed)).replaceAll(SPECIAL, '\\$&')
      if (text === undefined) return shell === 'zsh' ? escapeColons(value) : value
      return shell === 'zsh' ? `${escapeColons(value)}:${text}` : `${value}\t${text}`
    })
  return lines.join('\n')
}

const SPECIAL = /[^\p{L}\p{N}_.,:=@%+*/-]/gu

/** Readline takes what follows a colon or an equals sign for a word. */
const endOfBreaks = (typed: string) => Math.max(typed.lastIndexOf(':'), typed.lastIndexOf('=')) + 1

const escapeColons = (value: string) => value.replaceAll('\\', '\\\\').replaceAll(':', '\\:')

/** The last word is the one that is being typed; empty after a space. Quotes may still be open. */
export function splitWords(line: string): readonly string[] {
  const words: string[] = []
  let word: string | null = null
  let quote: string | null = null
  for (let i = 0; i < line.length; i++) {
    const char = line[i]!
    if (quote === null && /\s/.test(char)) {
      if (word !== null) words.push(word)
      word = null
    } else if (char === quote) quote = null
    else if (quote === null && (char === '"' || char === "'")) {
      quote = char
      word ??= ''
    } else if (char === '\\' && quote !== "'" && i + 1 < line.length)
      word = (word ?? '') + line[++i]!
    else word = (word ?? '') + char
  }
  return [...words, word ?? '']
}
