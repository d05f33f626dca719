// Which files are pages of the site, and where each of them is.

import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

const repository = join(import.meta.dirname, '../..')
const START = 'docs/README.md'

export function pages() {
  const below = readdirSync(join(repository, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join('docs', file))
  const top = readdirSync(repository).filter((file) => file.endsWith('.md'))
  return [...below.toSorted(), ...top.toSorted(), 'example-project/README.md']
}

/** docs/odata/data.md is odata/data.html; pages of the top of the repository come under project/. */
export function pathOf(file) {
  if (file === START) return 'index.html'
  const path = file.startsWith('docs/') ? file.slice('docs/'.length) : `project/${file}`
  return path.replace(/\.md$/, '.html')
}

/** What a link of a page leads to: a page, a file to copy, or nothing. */
export function targetOf(path) {
  if (pages().includes(path)) return { page: path }
  const readme = join(path, 'README.md')
  if (pages().includes(readme)) return { page: readme }
  return existsSync(join(repository, path)) ? { asset: path } : {}
}
