// What `eider help` has to say of a word: a page of docs/, a chapter of one, or the row of a table.

import { didYouMean } from '../core/suggest.ts'
import {
  documentation,
  headingsOf,
  type DocumentationPage,
  type TableRow,
  rowsAbout,
} from '../files/documentation.ts'

type Found =
  | { readonly is: 'page'; readonly page: DocumentationPage }
  | { readonly is: 'rows'; readonly rows: readonly TableRow[] }
  | {
      readonly is: 'chapter'
      readonly page: DocumentationPage
      readonly title: string
      readonly text: string
    }

/** `send-events`, `guides/send-events` and `guides/send-events.md` are one page. */
export function findTopic(words: string): Found | null {
  const topic = words
    .toLowerCase()
    .replace(/^docs\//, '')
    .replace(/\.md$/, '')
    .replaceAll(' ', '-')
  const pages = documentation()
  const page =
    pages.find((one) => one.topic.toLowerCase() === topic) ??
    pages.find((one) => one.topic.toLowerCase().replace(/^.*\//, '').replace(/^\d-/, '') === topic)
  if (page !== undefined) return { is: 'page', page }
  const rows = rowsAbout(words)
  if (rows.length > 0) return { is: 'rows', rows }
  for (const one of pages)
    for (const chapter of chaptersOf(one))
      if (plain(chapter.title) === plain(words)) return { is: 'chapter', page: one, ...chapter }
  return null
}

/** Each heading below the first with what is below it, down to the next one of its level or above. */
function chaptersOf(page: DocumentationPage) {
  const lines = page.text.split('\n')
  const headings = headingsOf(page).filter(({ level }) => level > 1)
  return headings.map(({ at, level, title }, i) => {
    const next = headings.slice(i + 1).find((other) => other.level <= level)
    return { title, text: lines.slice(at, next?.at).join('\n') }
  })
}

const plain = (title: string) => title.toLowerCase().replaceAll('`', '')

/** For a word that nothing is about. */
export function topicHint(words: string, commands: readonly string[]): string {
  const pages = documentation()
  const known = [
    ...commands,
    ...pages.flatMap(({ topic }) => [topic, topic.replace(/^.*\//, '')]),
    ...pages.flatMap((page) => chaptersOf(page).map(({ title }) => plain(title))),
    ...pages.flatMap(({ text }) =>
      Array.from(text.matchAll(/^\| `(@?[\w.-]+)/gm), ([, word]) => word!),
    ),
  ]
  return didYouMean(words, known) ?? `eider help search ${words}`
}
