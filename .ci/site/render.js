// One page: its HTML with links between pages, and its sections for the search.

import { dirname, join, relative } from 'node:path'
import MarkdownIt from 'markdown-it'
import { pathOf, targetOf } from './pages.js'

/** Lists of tests and rooms are looked up by name, and would be in the way of everybody else. */
const NOT_SEARCHED = ['docs/acceptance.md', 'ARCHITECTURE.md']

/** As GitHub does it, so that one link works in both. */
const slugOf = (heading) =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}_\- ]/gu, '')
    .replaceAll(' ', '-')

export function renderer(file, text) {
  const markdown = new MarkdownIt({ html: false, linkify: false })
  const tokens = markdown.parse(text.replaceAll(/<!--[\s\S]*?-->\n?/g, ''), {})
  const also = wordsOf(text)
  const assets = []
  const headings = []
  tokens.forEach((token, i) => {
    if (token.type === 'heading_open') {
      const name = plain(tokens[i + 1])
      token.attrSet('id', slugOf(name))
      headings.push({ level: Number(token.tag.slice(1)), name, id: slugOf(name), at: i })
    }
    for (const child of token.children ?? []) {
      const attribute = { link_open: 'href', image: 'src' }[child.type]
      if (attribute) child.attrSet(attribute, addressOf(file, child.attrGet(attribute), assets))
    }
  })
  const title = headings[0]?.name ?? file
  return {
    file,
    title,
    headings: headings.filter(({ level }) => level === 2),
    html: markdown.renderer
      .render(tokens, markdown.options, {})
      // What scrolls sideways is a stop of the Tab key, so that arrows move it.
      .replaceAll('<pre>', '<pre tabindex="0">')
      .replaceAll('<table>', '<div class="wide" tabindex="0"><table>')
      .replaceAll('</table>', '</table></div>'),
    sections: NOT_SEARCHED.includes(file) ? [] : sectionsOf(file, title, headings, tokens, also),
    assets,
  }
}

function addressOf(file, link, assets) {
  if (/^[a-z]+:/i.test(link)) return link
  const [path, anchor] = link.split('#')
  const hash = anchor === undefined ? '' : `#${anchor}`
  if (path === '') return hash
  const { page, asset } = targetOf(join(dirname(file), decodeURI(path)).replace(/\/$/, ''))
  const from = dirname(pathOf(file))
  if (page !== undefined) return (relative(from, pathOf(page)) || 'index.html') + hash
  if (asset === undefined) throw new Error(`${file}: nothing is at ${link}`)
  assets.push(asset)
  return relative(from, asset)
}

/** Words that people look for and that a section doesn't have, by its heading: `<!-- search: gdpr -->` below it. */
const wordsOf = (text) =>
  new Map(
    Array.from(text.matchAll(/^#+ (.+)\n+<!-- search: (.+) -->$/gm), ([, heading, words]) => [
      heading.replaceAll('`', ''),
      words,
    ]),
  )

function sectionsOf(file, title, headings, tokens, also) {
  return headings.map(({ name, id, level, at }, i) => ({
    id: `${pathOf(file)}${level === 1 ? '' : `#${id}`}`,
    page: title,
    heading: name,
    also: also.get(name) ?? '',
    text: tokens
      .slice(at + 3, headings[i + 1]?.at)
      .map((token) => plain(token))
      .filter((text) => text !== '')
      .join(' ')
      .replaceAll(/\s+/g, ' '),
  }))
}

function plain(token) {
  if (token.type === 'fence') return token.content
  if (token.type !== 'inline') return ''
  return token.children.map(({ content, type }) => (type === 'softbreak' ? ' ' : content)).join('')
}
