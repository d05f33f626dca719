import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const pagesIn = (dir: string) =>
  readdirSync(join(repository, dir))
    .filter((file) => file.endsWith('.md'))
    .map((file) => join(dir, file))
const pages = [...pagesIn('.'), ...pagesIn('docs'), ...pagesIn('example-project')]
const read = (path: string) => readFileSync(join(repository, path), 'utf8')

test('links between pages lead to files', () => {
  const links = pages.flatMap((page) =>
    [...read(page).matchAll(/\]\((?!https?:)([^)#]+)/g)].map(([, to = '']) => ({ page, to })),
  )
  assert.ok(links.length > 10)
  const dead = links.filter(({ page, to }) => !existsSync(join(repository, dirname(page), to)))
  assert.equal(dead, [])
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
