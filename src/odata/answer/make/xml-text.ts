// Pieces of XML: what a project says in its names and descriptions cannot break the document.

/** The names need no escapes. */
export const collectionXml = (names: readonly string[]): string =>
  `<Collection>${names.map((name) => `<String>${name}</String>`).join('')}</Collection>`

export const lines = (all: readonly string[]): string => all.map((line) => `${line}\n`).join('')

export function attributes(values: Readonly<Record<string, string>>): string {
  return Object.entries(values)
    .map(([name, value]) => ` ${name}="${escapeXml(value)}"`)
    .join('')
}

const entityOf: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\t': '&#9;',
  '\n': '&#10;',
  '\r': '&#13;',
}

/** XML has no way to write the other control characters, nor halves of a character. */
function escapeXml(text: string): string {
  return text
    .replace(/[&<>"\t\n\r]/g, (character) => entityOf[character]!)
    .replace(/[\p{Cc}\p{Cs}\ufffe\uffff]/gu, '\ufffd')
}
