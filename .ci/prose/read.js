// What of a file is prose: pages without their code, help texts without their usage, messages of the source.

/** Lines keep their numbers and code becomes a word, so that sentences stay whole. */
export function proseOfPage(page) {
  const blank = (text) => text.replaceAll(/[^\n]+/g, '')
  return page
    .replaceAll(/^---\n[\s\S]*?\n---$/gm, blank)
    .replaceAll(/^ *```[\s\S]*?^ *```$/gm, blank)
    .replaceAll(/<!--[\s\S]*?-->/g, blank)
    .replaceAll(/(`+)[^`]+?\1/g, '`x`')
    .replaceAll(/\]\([^)\n]*\)/g, ']')
}

/** A golden case of help: what is printed, without the lines of usage and examples. */
export function proseOfHelp(text) {
  return text.replaceAll(/^ *(?:\$ |-- ).*$/gm, '')
}

const STRING =
  /(?<![\w.])'((?:[^'\\\n]|\\.)*)'|`((?:[^`\\]|\\.)*)`|"((?:[^"\\\n]|\\.)* (?:[^"\\\n]|\\.)*)"/g

/** Strings of more than one word, on the lines on which they stand; comments and what is set in are left out. */
export function proseOfSource(source) {
  const code = source
    .replaceAll(/^[ \t]*(?:\/\/|\*|\/\*).*$/gm, '')
    .replaceAll(/[ \t]\/\/ .*$/gm, '')
    .replaceAll(/\bsql(?:<[^>]*>)?`[^`]*`/g, (all) => all.replaceAll(/[^\n]+/g, ''))
  const lines = code.split('\n').map(() => '')
  for (const match of code.matchAll(STRING)) {
    const text = (match[1] ?? match[2] ?? match[3]).replaceAll(/\$\{[^}]*\}/g, 'x')
    if (!/[a-z]{2,} [a-z]/i.test(text)) continue
    const line = code.slice(0, match.index).split('\n').length - 1
    lines[line] += `${text.replaceAll('\n', ' ')} `
  }
  return lines.join('\n')
}
