// What is not JSON and looks like something else that people send.

/** Values of Python and JavaScript that JSON does not have, and what to write. */
const VALUES: Readonly<Record<string, string>> = {
  NaN: 'null',
  None: 'null',
  undefined: 'null',
  Infinity: 'null',
  True: 'true',
  False: 'false',
}
/** Where a string is not closed, to look for its end from each quote takes the square of this. */
const LOOKED_AT = 4_000
const STRINGS = /"(?:[^"\\]|\\.)*"/gs
const VALUE = new RegExp(String.raw`[:[,]\s*-?(${Object.keys(VALUES).join('|')})\b`)

/** What was most likely meant, with what to write; null for a text that looks like nothing else. */
export function jsonMistake(whole: string): string | null {
  const text = whole.slice(0, LOOKED_AT)
  const file = /^@([\w./\\-]{1,200})\s*$/.exec(text)?.[1]
  if (file !== undefined)
    return `it is the name of a file; curl sends its contents with --data-binary @${file}`
  const name = /^\s*\{\s*'?([A-Za-z_]\w*)'?\s*:/.exec(text.slice(0, 60))?.[1]
  if (name !== undefined) return `names are written in double quotes: {"${name}":…`
  const value = VALUE.exec(text.replaceAll(STRINGS, '""'))?.[1]
  return value === undefined ? null : `it has no value ${value}; write ${VALUES[value]!}`
}
