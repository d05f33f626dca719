// npm run docs: every link of the site leads to a file and a heading, nothing comes from another host, and the search
// finds what people ask for.

import { spawnSync } from 'node:child_process'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { repository } from '../support/workspace.ts'

/** All of it in memory, since tests run after the directory is gone. */
const files = await makeSite()
const pages = [...files.keys()].filter((file) => file.endsWith('.html'))
const read = (file: string) => files.get(file)!.toString()

async function makeSite(): Promise<ReadonlyMap<string, Buffer>> {
  await using directory = await temporaryDirectory()
  const args = ['.ci/site.js', directory.path]
  const { status, stderr } = spawnSync(process.execPath, args, { cwd: repository })
  assert.is(status, 0, stderr.toString())
  const all = readdirSync(directory.path, { recursive: true, encoding: 'utf8' })
    .map((file) => [file, join(directory.path, file)] as const)
    .filter(([, path]) => statSync(path).isFile())
  return new Map(all.map(([file, path]) => [file, readFileSync(path)]))
}

test('every link and picture leads to a file of the site, every anchor to a heading', () => {
  assert.ok(pages.length > 40)
  const dead = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:href|src)="([^"]*)"/g)]
      .map(([, link = '']) => link.replaceAll('&amp;', '&'))
      .filter((link) => !/^(?:https?|data|mailto):/.test(link))
      .filter((link) => {
        const [path = '', anchor] = link.split('#')
        const file = path === '' ? page : join(dirname(page), decodeURI(path))
        if (!files.has(file)) return true
        return (
          anchor !== undefined && file.endsWith('.html') && !read(file).includes(`id="${anchor}"`)
        )
      })
      .map((link) => `${page}: ${link}`),
  )
  assert.equal(dead, [])
})

test('nothing is asked of another host, also by the style sheet and the search', () => {
  for (const page of pages)
    assert.not.match(
      read(page),
      /<(?:script|link|img|iframe)[^>]+(?:href|src)="(?:https?:)?\/\//,
      page,
    )
  assert.not.match(read('style.css'), /url\(|@import/)
  const script = readFileSync(join(repository, '.ci/site/search.js'), 'utf8')
  assert.not.match(script, /\bfetch\(|XMLHttpRequest|import\(/)
})

test('the search finds the page that answers', () => {
  const nothing = { addEventListener() {}, dataset: { root: '.' } }
  const document = { ...nothing, documentElement: nothing, querySelector: () => nothing }
  const script = `${read('search.js')}\n;find`
  const found = runInNewContext(script, { document }) as (query: string) => { id: string }[]
  for (const [query, page] of [
    ['install', 'install.html'],
    ['watermark', 'annotations.html#append'],
    ['nginx', 'guides/deploy.html#tls'],
    ['power bi token', 'guides/excel-and-power-bi.html'],
    ['delete a person', 'guides/delete-and-retain.html'],
    ['idempotency', 'collect.html'],
    ['kubernetes', 'guides/deploy.html'],
  ] as const) {
    const five = found(query).slice(0, 5)
    assert.ok(
      five.some(({ id }) => id.startsWith(page)),
      `${query}: ${five.map(({ id }) => id).join(', ')}`,
    )
  }
})

test.run()
