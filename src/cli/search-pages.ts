// What `eider help search` finds.

import { documentation, headingsOf, type DocumentationPage } from '../files/documentation.ts'

export interface Line {
  readonly topic: string
  readonly line: number
  readonly text: string
}

/** For maintainers: its rows have the words of every other page. */
const NOT_SEARCHED = 'acceptance'

/** Words that a section lacks and that people look for, below its heading. */
const ALSO = '<!-- search:'

const EVERYDAY = new Set(
  'a an and are can do does for from how i in is it my of on or the to what when where which why with'.split(
    ' ',
  ),
)

/** Sections that have all the words, or else most of them; words of a heading count for more. Of each, its best line. */
export function searchPages(words: readonly string[]): readonly Line[] {
  const low = words.map((word) => word.toLowerCase())
  const telling = low.filter((word) => !EVERYDAY.has(word))
  // Most plurals are found by their singular.
  const wanted = (telling.length > 0 ? telling : low).map((word) => word.replace(/(?<=.{3})s$/, ''))
  const found = documentation()
    .filter(({ topic }) => topic !== NOT_SEARCHED)
    .flatMap((page) => sectionsOf(page).map((section) => ({ page, section })))
    .map(({ page, section }) => ({ page, section, ...rank(page, section, wanted) }))
    .filter(({ words: count }) => count > 0)
    .toSorted((a, b) => b.words - a.words || b.weight - a.weight)
  return found
    .filter(({ words: count }) => count === found[0]!.words)
    .map(({ page, section }) => bestLine(page, section, wanted))
}

interface Section {
  readonly heading: string
  /** The line of the heading, from 1. */
  readonly line: number
  readonly lines: readonly string[]
}

/** Each heading with what is below it, down to the next one. */
function sectionsOf(page: DocumentationPage): readonly Section[] {
  const lines = page.text.split('\n')
  return headingsOf(page).map(({ at, title }, i, headings) => ({
    heading: title,
    line: at + 1,
    lines: lines.slice(at + 1, headings[i + 1]?.at),
  }))
}

function rank(
  { title, topic }: DocumentationPage,
  { heading, lines }: Section,
  wanted: readonly string[],
) {
  const also = lines.filter((line) => line.startsWith(ALSO)).join(' ')
  const counted = [
    { text: heading.toLowerCase(), weight: 4 },
    { text: also.toLowerCase(), weight: 4 },
    { text: `${title} ${topic}`.toLowerCase(), weight: 2 },
    { text: lines.join('\n').toLowerCase(), weight: 1 },
  ]
  const weights = wanted.map((word) =>
    counted.reduce((sum, { text, weight }) => sum + (text.includes(word) ? weight : 0), 0),
  )
  return {
    words: weights.filter((weight) => weight > 0).length,
    weight: weights.reduce((sum, weight) => sum + weight, 0),
  }
}

function bestLine({ topic }: DocumentationPage, section: Section, wanted: readonly string[]): Line {
  const counts = section.lines.map((line) => {
    const low = line.toLowerCase()
    return line.startsWith('<!--') ? 0 : wanted.filter((word) => low.includes(word)).length
  })
  const most = Math.max(0, ...counts)
  const { heading, line } = section
  if (most === 0) return { topic, line, text: heading }
  const at = counts.indexOf(most)
  return {
    topic,
    line: line + 1 + at,
    text: `${heading}: ${section.lines[at]!.replace(/^[#|\s-]+/, '').trim()}`,
  }
}
