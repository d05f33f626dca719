// The pages of docs/ that are in the package: what they say of a word.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageDir } from './package.ts'

export interface DocumentationPage {
  /** Relative to docs/, without its ending, such as `guides/send-events`. */
  readonly topic: string
  readonly title: string
  readonly text: string
}

let read: readonly DocumentationPage[] | null = null

/** By their topics. */
export function documentation(): readonly DocumentationPage[] {
  return (read ??= readdirSync(join(packageDir, 'docs'), { recursive: true, encoding: 'utf8' })
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => file.endsWith('.md'))
    .toSorted()
    .map((file) => {
      const text = readFileSync(join(packageDir, 'docs', file), 'utf8')
      const title = /^# (.+)$/m.exec(text)?.[1] ?? file
      return { topic: file.slice(0, -'.md'.length), title, text }
    }))
}

export interface TableRow {
  readonly page: DocumentationPage
  /** The names of the columns. */
  readonly head: readonly string[]
  readonly cells: readonly string[]
}

/** The rows of tables whose first cell begins with the word in code style. */
export function rowsAbout(word: string): readonly TableRow[] {
  const begins = new RegExp(`^\`${word.replaceAll(/[^\w]/g, '\\$&')}(?![\\w.-])`, 'i')
  return documentation().flatMap((page) => {
    let head: readonly string[] = []
    return page.text.split('\n').flatMap((line, i, lines) => {
      if (!line.startsWith('|')) return []
      const cells = splitRow(line)
      if (lines[i + 1]?.startsWith('| -') === true) head = cells
      return begins.test(cells[0] ?? '') ? [{ page, head, cells }] : []
    })
  })
}

/** The headings outside of code, with the numbers of their lines. */
export function headingsOf({ text }: DocumentationPage) {
  let isCode = false
  return text.split('\n').flatMap((line, at) => {
    if (line.startsWith('```')) isCode = !isCode
    const [, marks, title] = (isCode ? null : /^(#+) (.+)$/.exec(line)) ?? []
    return marks === undefined ? [] : [{ at, level: marks.length, title: title! }]
  })
}

/** A bar in code style is escaped. */
export const splitRow = (line: string): readonly string[] =>
  line
    .slice(1, line.lastIndexOf('|'))
    .split(/(?<!\\)\|/)
    .map((cell) => cell.trim().replaceAll('\\|', '|'))
