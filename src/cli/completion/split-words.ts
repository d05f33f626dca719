// The words of a command line that is still being typed, as a POSIX shell would split it.

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
