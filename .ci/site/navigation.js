// The list of pages at the side: docs/README.md is the table of contents, and pages of a folder stand below the page that
// has its name.

import { dirname, join } from 'node:path'

export function navigationOf(contents, rendered) {
  const titles = new Map(rendered.map(({ file, title }) => [file, title]))
  const parts = contents.split(/^## /m).slice(1)
  return parts.map((part) => ({
    name: part.split('\n')[0],
    pages: [...part.matchAll(/\[([^\]]+)\]\(([^)#]+\.md)\)/g)].map(([, name, link]) => {
      const file = join('docs', link)
      return { name, file, below: below(file, titles) }
    }),
  }))
}

function below(file, titles) {
  const folder = file.replace(/\.md$/, '')
  return [...titles.keys()]
    .filter((one) => dirname(one) === folder)
    .map((one) => ({ name: titles.get(one), file: one }))
}
