// Text as a terminal shows it: how many columns it takes, and lines that end between words.

const TAB_COLUMNS = 4

interface Cell {
  readonly text: string
  readonly columns: number
}

/** Characters as a terminal shows them: tabs as spaces, wide characters in two columns, marks in none. */
export function cellsOf(line: string): readonly Cell[] {
  let at = 0
  return Array.from(line, (character) => {
    const cell = cellOf(character, at)
    at += cell.columns
    return cell
  })
}

function cellOf(character: string, at: number): Cell {
  if (character === '\t') {
    const columns = TAB_COLUMNS - (at % TAB_COLUMNS)
    return { text: ' '.repeat(columns), columns }
  }
  if (/^\p{Mark}$/u.test(character)) return { text: character, columns: 0 }
  if (WIDE.test(character)) return { text: character, columns: 2 }
  return { text: printable(character), columns: 1 }
}

// East Asian scripts with their punctuation, full-width forms, pictographs.
const WIDE =
  /^(?:[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation})$/u

/** On one line: control characters of a file or a value must not reach the terminal. */
export const printable = (text: string) => text.replaceAll(/\p{Cc}/gu, '\ufffd')

export const cellsText = (cells: readonly Cell[]) => cells.map(({ text }) => text).join('')
export const cellColumns = (cells: readonly Cell[]) =>
  cells.reduce((sum, { columns }) => sum + columns, 0)

// Of our own paint, which takes no column.
// oxlint-disable-next-line no-control-regex
const COLOUR = /\u001b\[\d+m/g

export const terminalWidth = (text: string): number =>
  cellColumns(cellsOf(text.replaceAll(COLOUR, '')))

/** Lines of at most `columns`, those after the first indented. A word that is longer stays whole. */
export function wrap(text: string, columns: number, indent: number): string {
  if (columns === Infinity || terminalWidth(text) <= columns) return text
  const lines: string[] = []
  let line = ''
  let width = 0
  for (const [, blanks = '', word = ''] of text.matchAll(/(\s*)(\S+)/g)) {
    const more = blanks.length + terminalWidth(word)
    const isFirst = width === 0 || (lines.length > 0 && width === indent)
    if (!isFirst && width + more > columns) {
      lines.push(line)
      line = ' '.repeat(indent) + word
      width = indent + terminalWidth(word)
    } else {
      line += blanks + word
      width += more
    }
  }
  return [...lines, line].join('\n')
}

/** The text, or the start of it and `…`. */
export function cut(text: string, columns: number): string {
  const cells = cellsOf(text)
  if (cellColumns(cells) <= columns) return cellsText(cells)
  let to = 0
  for (let used = 0; used + cells[to]!.columns < columns; to++) used += cells[to]!.columns
  return cellsText(cells.slice(0, to)) + '…'
}
