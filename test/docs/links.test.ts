import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const pagesIn = (dir: string, recursive = false) =>
  readdirSync(join(repository, dir), { recursive, encoding: 'utf8' })
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(dir, file))
const pages = [...pagesIn('.'), ...pagesIn('docs', true), ...pagesIn('example-project')]
const read = (path: string) => readFileSync(join(repository, path), 'utf8')

/** As GitHub and the site name them: lower case, hyphens for blanks, no punctuation. */
const anchorsOf = (path: string) =>
  new Set(
    [...read(path).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
      heading
        .toLowerCase()
        .replaceAll(/[^\w\- ]/g, '')
        .replaceAll(' ', '-'),
    ),
  )

test('links between pages lead to files and headings', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:|mailto:)([^)\s]+)\)/g)].map(([, to = '']) => {
      const [file = '', anchor] = to.split('#')
      return { page, to, path: file === '' ? page : join(dirname(page), file), anchor }
    }),
  )
  assert.ok(links.length > 100)
  const isDead = ({ path, anchor }: (typeof links)[number]) =>
    !existsSync(join(repository, path)) ||
    (anchor !== undefined && path.endsWith('.md') && !anchorsOf(path).has(anchor))
  assert.equal(
    links.filter(isDead).map(({ page, to }) => `${page}: ${to}`),
    [],
  )
})

test('files of the repository that pages name exist', () => {
  const named = pages.flatMap((page) =>
    [...read(page).matchAll(/`((?:src|test|docs|templates)\/[\w./-]+)`/g)].map(([, path = '']) => ({
      page,
      path,
    })),
  )
  assert.ok(named.length > 20)
  assert.equal(
    named.filter(({ path }) => !existsSync(join(repository, path))),
    [],
  )
})

test('the README counts the events of the example', () => {
  const dir = join(repository, 'example-project', 'events')
  const lines = readdirSync(dir).map(
    (file) => readFileSync(join(dir, file), 'utf8').split('\n').length - 1,
  )
  const events = lines.reduce((sum, count) => sum + count, 0)
  assert.match(read('README.md'), `posts ${events.toLocaleString('en-US')} events`)
})

test.run()
