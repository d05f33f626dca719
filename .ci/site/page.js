// The HTML around a page: search, the list of pages, the headings of this one.

import { dirname, relative } from 'node:path'
import { pathOf } from './pages.js'

const escaped = (text) =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')

export function documentOf(page, navigation) {
  const path = pathOf(page.file)
  const root = relative(dirname(path), '.') || '.'
  const to = (file) => relative(dirname(path), pathOf(file)) || 'index.html'
  const item = ({ name, file, below = [] }) => {
    const isOpen = file === page.file || below.some((one) => one.file === page.file)
    const here = file === page.file ? ' aria-current="page"' : ''
    const inside = isOpen && below.length > 0 ? `<ul>${below.map(item).join('')}</ul>` : ''
    return `<li><a href="${to(file)}"${here}>${escaped(name)}</a>${inside}</li>`
  }
  const parts = navigation.map(
    ({ name, pages }) => `<h2>${escaped(name)}</h2><ul>${pages.map(item).join('')}</ul>`,
  )
  const headings = page.headings.map(
    ({ name, id }) => `<li><a href="#${id}">${escaped(name)}</a></li>`,
  )
  return `<!doctype html>
<html lang="en" data-root="${root}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(page.title)} · eider</title>
<link rel="icon" href="data:,">
<link rel="stylesheet" href="${root}/style.css">
<script defer src="${root}/search.js"></script>
</head>
<body>
<header>
<button class="menu" popovertarget="pages" aria-label="Pages">☰</button>
<a class="name" href="${root}/index.html">eider</a>
<input type="search" placeholder="Search  /" aria-label="Search the documentation" aria-controls="results">
<ol id="results" hidden></ol>
</header>
<nav id="pages" popover aria-label="Pages">${parts.join('\n')}</nav>
<main>
${page.html}
</main>
${headings.length > 2 ? `<aside aria-label="On this page"><h2>On this page</h2><ul>${headings.join('')}</ul></aside>` : ''}
</body>
</html>
`
}
