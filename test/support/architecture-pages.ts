// ARCHITECTURE.md and the pages of rooms (src/*/README.md), as far as tests read them.

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as assert from 'uvu/assert'
import { repository } from './workspace.ts'

interface ListItem {
  /** What is in backticks before the first colon, or all of it where there is none. */
  readonly names: readonly string[]
  /** What is in parentheses after the names; empty if nothing is. */
  readonly rule: string
  /** After the first colon. */
  readonly text: string
}

const read = (path: string): string => readFileSync(join(repository, path), 'utf8')

export const architecture = read('ARCHITECTURE.md')

export const roomPages = (): readonly string[] => readdirSync(join(repository, 'src'))

export const pageOf = (room: string): string => read(`src/${room}/README.md`)

export interface Shortcut {
  /** Its directory, or its only file, below `src`. */
  readonly name: string
  readonly entry: string
  readonly importer: string
  /** The only line of the importer that uses it, without its indentation. */
  readonly line: string
}

export const shortcuts: readonly Shortcut[] = listUnder('Shortcuts', architecture).map(
  ({ names: [name, entry, importer, line] }) => {
    return { name: name!, entry: `src/${entry}.ts`, importer: `src/${importer}.ts`, line: line! }
  },
)

/** The text of the importer without the line. Throws unless it has the line once. */
export function withoutLine({ importer, line }: Shortcut, text: string): string {
  const lines = text.split('\n')
  const others = lines.filter((one) => one.trim() !== line)
  const count = lines.length - others.length
  if (count !== 1) throw new Error(`${importer} has ${count} times: ${line}`)
  return others.join('\n')
}

/** The items of the list under a heading of any level: - `name` (rule): text. */
export function listUnder(heading: string, page: string): readonly ListItem[] {
  const lines = page.split('\n')
  const start = lines.findIndex((line) => /^#+ /.test(line) && line.replace(/^#+ /, '') === heading)
  if (start < 0) return []
  const end = lines.findIndex((line, i) => i > start && line.startsWith('#'))
  const items = lines
    .slice(start, end < 0 ? undefined : end)
    .filter((line) => /^(-|\d+\.) /.test(line))
  assert.ok(items.length > 0, `no list under "${heading}"`)
  return items.map(itemOf)
}

function itemOf(line: string): ListItem {
  const item = line.replace(/^(-|\d+\.) /, '')
  const [head = ''] = /^(?:`[^`]*`|[^`:])*/.exec(item) ?? []
  const text = item.slice(head.length + 1).trim()
  const inText = [...text.matchAll(/^`([^`]+)`$/g)]
  const names = [...head.matchAll(/`([^`]+)`/g), ...inText].map(([, name = '']) => name)
  const [, rule = ''] = /\(([^)]*)\)$/.exec(head.trim()) ?? []
  return { names, rule, text }
}

export const wordsOf = (list: string): ReadonlySet<string> =>
  new Set(list.replaceAll('`', '').split(/,\s*/))
