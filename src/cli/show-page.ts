// Markdown of docs/ for a terminal: headings, code, lists and tables, wrapped to its width. Where there is no terminal the
// same without colours and wrapping.

import { splitRow } from '../files/documentation.ts'
import { terminalWidth, wrap } from './cells.ts'
import type { Look } from './paint.ts'

export function showPage(markdown: string, look: Look): string {
  const { paint, columns } = look
  const shown: string[] = []
  const lines = markdown.split('\n')
  let isCode = false
  for (let i = 0; i < lines.length; i++) {
    const line = lines[i]!
    if (line.startsWith('```')) {
      isCode = !isCode
      continue
    }
    const heading = /^#+ (.+)$/.exec(line)?.[1]
    if (isCode) shown.push(paint('cyan', `    ${line}`.trimEnd()))
    else if (/^(<!--.*-->|!\[.*)$/.test(line)) continue
    else if (heading !== undefined) shown.push(paint('bold', inline(heading, look)))
    else if (line.startsWith('|')) {
      const rows = lines.slice(i).findIndex((other) => !other.startsWith('|'))
      const end = rows === -1 ? lines.length : i + rows
      shown.push(...showTable(lines.slice(i, end), look))
      i = end - 1
    } else {
      const indent = /^\s*(?:[-*] |\d+\. )?/.exec(line)![0].length
      shown.push(wrap(inline(line, look), columns, indent))
    }
  }
  return `${shown.join('\n').trim()}\n`
}

/** Two columns side by side; more of them one below the other, under the first. */
function showTable([head = '', , ...rows]: readonly string[], look: Look): readonly string[] {
  const names = splitRow(head)
  const cells = rows.map((row) => splitRow(row).map((cell) => inline(cell, look)))
  if (names.length > 2) return cells.flatMap((row) => showRow(names, row, look))
  const width = Math.min(28, Math.max(...cells.map(([first = '']) => terminalWidth(first))))
  return cells.map(([first = '', second = '']) => {
    const gap = ' '.repeat(Math.max(0, width - terminalWidth(first)))
    return wrap(`  ${first}${gap}  ${second}`, look.columns, width + 4)
  })
}

export function showRow(
  names: readonly string[],
  [first = '', ...others]: readonly string[],
  { paint, columns }: Look,
): readonly string[] {
  const below = others.flatMap((cell, i) => {
    if (cell === '') return []
    const name = names[i + 1] ?? ''
    return [wrap(`    ${name === '' ? '' : `${paint('dim', name)}: `}${cell}`, columns, 6)]
  })
  return [wrap(`  ${paint('bold', first)}`, columns, 4), ...below]
}

/** Code keeps its quotes where it has no colour. Of links the words stay. */
export function inline(text: string, { paint }: Look): string {
  const code = paint('cyan', 'x') === 'x' ? '`$1`' : paint('cyan', '$1')
  return text
    .replaceAll(/\[([^\]]+)\]\(([^)]+)\)/g, (_, words: string, to: string) =>
      /^https?:/.test(to) ? `${words} (${to})` : words,
    )
    .replaceAll(/\*\*([^*]+)\*\*/g, paint('bold', '$1'))
    .replaceAll(/(?<!`)`([^`]+)`(?!`)/g, code)
}
