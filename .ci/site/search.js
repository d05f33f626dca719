/* global MiniSearch, sections */
// Finds sections as somebody types; the answers are links.
const EVERYDAY = new Set(
  'a an and are can do does for from how i in is it my of on or the to what when where which why with'.split(
    ' ',
  ),
)

const search = new MiniSearch({
  fields: ['heading', 'page', 'text', 'also'],
  storeFields: ['heading', 'page', 'text'],
  processTerm: (term) => (EVERYDAY.has(term.toLowerCase()) ? null : term.toLowerCase()),
  searchOptions: {
    boost: { heading: 4, page: 2, also: 4 },
    // Pages about the project itself are for those who work on it.
    boostDocument: (id) => (id.startsWith('project/') ? 0.2 : 1),
    prefix: true,
    fuzzy: (term) => (term.length > 3 ? 0.2 : false),
    combineWith: 'AND',
  },
})
search.addAll(sections)
const root = document.documentElement.dataset.root
const input = document.querySelector('input[type=search]')
const list = document.querySelector('#results')

function excerpt(text, terms) {
  const low = text.toLowerCase()
  const found = terms.map((term) => low.indexOf(term)).filter((at) => at >= 0)
  const from = Math.max(0, Math.min(...found, low.length) - 60)
  return `${from > 0 ? '…' : ''}${text.slice(from, from + 160)}${text.length > from + 160 ? '…' : ''}`
}

/** Sections with all words, and where there is none, those with some of them. */
function find(query) {
  const all = search.search(query)
  return all.length > 0 ? all : search.search(query, { combineWith: 'OR' })
}

function show() {
  const query = input.value.trim()
  const results = find(query)
  list.replaceChildren(
    ...results.slice(0, 12).map(({ id, page, heading, text, terms }) => {
      const link = document.createElement('a')
      link.href = `${root}/${id}`
      const name = document.createElement('strong')
      name.textContent = heading === page ? page : `${page}: ${heading}`
      const lines = document.createElement('span')
      lines.textContent = excerpt(text, terms)
      link.append(name, lines)
      const item = document.createElement('li')
      item.append(link)
      return item
    }),
  )
  if (query !== '' && results.length === 0) list.textContent = 'Nothing found'
  list.hidden = query === ''
}

input.addEventListener('input', show)
document.addEventListener('keydown', (event) => {
  if (event.key === '/' && document.activeElement !== input) {
    event.preventDefault()
    input.focus()
  } else if (event.key === 'Escape') {
    input.value = ''
    show()
  } else if (event.key === 'Enter' && document.activeElement === input) {
    list.querySelector('a')?.click()
  } else if (event.key === 'ArrowDown' || event.key === 'ArrowUp') {
    const links = [...list.querySelectorAll('a')]
    const at = links.indexOf(document.activeElement)
    if (links.length === 0 || (at < 0 && document.activeElement !== input)) return
    event.preventDefault()
    const next = at + (event.key === 'ArrowDown' ? 1 : -1)
    ;(links[next] ?? input).focus()
  }
})
