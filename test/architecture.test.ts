// The rules of ARCHITECTURE.md, read from its tables and checked against every file.

import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from './support/workspace.ts'

interface File {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly text: string
}

interface Rules {
  /** Room to what it may import: rooms, or single files as `room/file`; 'everything' opens all. */
  readonly rooms: ReadonlyMap<string, ReadonlySet<string>>
  /** Package to the rooms that may import it. A name that ends in `/*` stands for a scope. */
  readonly packages: ReadonlyMap<string, ReadonlySet<string>>
}

const MAX_LINES = 400

const architecture = readFileSync(join(repository, 'ARCHITECTURE.md'), 'utf8')
const sources = filesBelow('src')
const all = [...sources, ...filesBelow('test')]
const rules: Rules = {
  rooms: tableAfter('room', architecture, 'may import'),
  packages: tableAfter('package', architecture, 'only in'),
}

test('every room has a row, every row a room', () => {
  assert.equal([...new Set(sources.map(roomOf))].toSorted(), [...rules.rooms.keys()].toSorted())
  assert.ok(sources.length > 40)
})

test('imports keep to the table', () => {
  assert.equal(importViolations(sources, rules), [])
})

test('every package that is a dependency has a row', () => {
  const { dependencies } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as {
    dependencies: Record<string, string>
  }
  for (const name of Object.keys(dependencies)) assert.ok(rowOf(name, rules.packages), name)
})

test('the check of imports finds what is forbidden', () => {
  const example: Rules = {
    rooms: new Map([
      ['core', new Set<string>()],
      ['buffer', new Set(['core'])],
      ['pipeline', new Set(['core', 'buffer/claim-source'])],
    ]),
    packages: new Map([['@duckdb/*', new Set(['core'])]]),
  }
  const check = (path: string, text: string) =>
    importViolations([{ path: `src/${path}`, text }], example).length
  assert.is(check('buffer/a.ts', `import { x } from '../core/x.ts'`), 0)
  assert.is(check('core/a.ts', `import { x } from '../buffer/x.ts'`), 1)
  assert.is(check('core/a.ts', `import type {\n  X,\n} from '../buffer/x.ts'`), 1)
  assert.is(check('core/a.ts', `const x = await import('../buffer/x.ts')`), 1)
  assert.is(check('core/a.ts', `import '../buffer/x.ts'`), 1)
  assert.is(check('core/a.ts', `import { x } from './b/x.ts'`), 0)
  assert.is(check('pipeline/a.ts', `import { x } from '../buffer/claim-source.ts'`), 0)
  assert.is(check('pipeline/a/b.ts', `import { x } from '../../buffer/segment.ts'`), 1)
  assert.is(check('core/a.ts', `import { x } from '@duckdb/node-api'`), 0)
  assert.is(check('buffer/a.ts', `import { x } from '@duckdb/node-api'`), 1)
  assert.is(check('buffer/a.ts', `import { x } from 'left-pad'`), 1)
  assert.is(check('buffer/a.ts', `import { x } from 'node:fs'`), 0)
  assert.is(check('core/a.ts', `import { x } from '../../test/x.ts'`), 1)
})

test('the environment and the exit of the process belong to cli and commands', () => {
  const wrong = sources
    .filter((file) => !['cli', 'commands'].includes(roomOf(file)))
    .filter(({ text }) => /\bprocess\s*\.\s*(env|exit|exitCode)\b/.test(withoutComments(text)))
  assert.equal(pathsOf(wrong), [])
})

test('only the compiler makes a ModelBody', () => {
  const makers = sources.filter(({ text }) => /\bModelBody\s*\.\s*of\b/.test(text)).map(roomOf)
  assert.equal([...new Set(makers)], ['compiler'])
})

test('files are small, in kebab-case, and no file only passes on what others export', () => {
  assert.equal(pathsOf(all.filter(({ text }) => text.split('\n').length > MAX_LINES + 1)), [])
  const kebab = /^(src|test)(\/[a-z0-9-]+)+(\.(test|grammar|recipe|d))?\.ts$/
  assert.equal(pathsOf(all.filter(({ path }) => !kebab.test(path))), [])
  const barrel = /^export\s[^;'"]*\sfrom\s+['"]/m
  assert.equal(pathsOf(all.filter(({ text }) => barrel.test(text))), [])
})

function importViolations(files: readonly File[], { rooms, packages }: Rules): readonly string[] {
  return files.flatMap((file) => {
    const room = roomOf(file)
    const allowed = rooms.get(room) ?? new Set()
    return importsOf(file.text)
      .filter((specifier) => !specifier.startsWith('node:'))
      .filter((specifier) => {
        if (!specifier.startsWith('.')) return !rowOf(specifier, packages)?.has(room)
        const target = posix.join(dirname(file.path), specifier)
        const [top, targetRoom = ''] = target.split('/')
        if (top !== 'src') return true
        const targetFile = target.slice('src/'.length).replace(/\.ts$/, '')
        const names = [targetRoom, targetFile, 'everything']
        return targetRoom !== room && !names.some((name) => allowed.has(name))
      })
      .map((specifier) => `${file.path} imports ${specifier}`)
  })
}

function importsOf(text: string): readonly string[] {
  const code = withoutComments(text)
  const forms = [
    /\bfrom\s+['"]([^'"]+)['"]/g,
    /\bimport\s+['"]([^'"]+)['"]/g,
    /\bimport\(\s*['"]([^'"]+)['"]\s*\)/g,
  ]
  return forms.flatMap((form) => [...code.matchAll(form)].map(([, specifier = '']) => specifier))
}

/** Whole-line comments only; that is where this code base has them when they could be mistaken for code. */
function withoutComments(text: string): string {
  return text.replaceAll(/^\s*(\/\/|\/?\*).*$/gm, '')
}

function rowOf(
  specifier: string,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> | undefined {
  const parts = specifier.split('/')
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
  return packages.get(name) ?? packages.get(`${parts[0]}/*`)
}

const roomOf = ({ path }: File) => path.split('/')[1]!
const pathsOf = (files: readonly File[]) => files.map(({ path }) => path)

/** First column to the words of another column of the table whose first heading is `key`. */
function tableAfter(
  key: string,
  markdown: string,
  column: string,
): ReadonlyMap<string, ReadonlySet<string>> {
  const rows = markdown.split('\n').map((line) => line.split('|').map((cell) => cell.trim()))
  const head = rows.findIndex((cells) => cells[1] === key && cells.includes(column))
  assert.ok(head >= 0, `ARCHITECTURE.md has no table with "${key}" and "${column}"`)
  const at = rows[head]!.indexOf(column)
  const end = rows.findIndex((cells, i) => i > head && cells.length === 1)
  const words = (cell: string) => cell.replaceAll('`', '').split(/,\s*/)
  return new Map(
    rows
      .slice(head + 2, end)
      .flatMap((cells) =>
        words(cells[1]!).map((name) => [name, new Set(words(cells[at]!))] as const),
      ),
  )
}

function filesBelow(top: string): readonly File[] {
  return readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts'))
    .map((path) => posix.join(top, path.split('\\').join('/')))
    .map((path) => ({ path, text: readFileSync(join(repository, path), 'utf8') }))
}

test.run()
