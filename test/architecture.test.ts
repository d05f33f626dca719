// The rules of ARCHITECTURE.md and of the pages of rooms, read from their lists and checked against every file.

import { readFileSync } from 'node:fs'
import { dirname, join, posix } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import {
  architecture,
  listUnder,
  pageOf,
  roomPages,
  type Shortcut,
  shortcuts,
  withoutLine,
  wordsOf,
} from './support/architecture-pages.ts'
import { filesBelow, importsOf, type SourceFile, withoutComments } from './support/source-files.ts'
import { repository } from './support/workspace.ts'

interface Rules {
  /** Room to what it may import: rooms, or single files as `room/file`; 'everything' opens all. */
  readonly rooms: ReadonlyMap<string, ReadonlySet<string>>
  /** Package to the rooms, or `room/directory`, that may import it. A name that ends in `/*` stands for a scope. */
  readonly packages: ReadonlyMap<string, ReadonlySet<string>>
  /** Of a room with a table of its own: directory, or file in the room itself, to what that may import. */
  readonly directories: ReadonlyMap<string, ReadonlyMap<string, DirectoryRule>>
}

interface DirectoryRule {
  /** Other directories of the room, or single files as `directory/file`. */
  readonly siblings: ReadonlySet<string>
  readonly rooms: ReadonlySet<string>
}

const MAX_LINES = 400
/** Its code runs in a browser, without the modules of Node. */
const BROWSER = 'explorer/page'

const sources = filesBelow('src')
const all = [...sources, ...filesBelow('test')]
const rules: Rules = {
  rooms: new Map(
    listUnder('Rooms', architecture).map(({ names, rule }) => [names[0]!, wordsOf(rule)]),
  ),
  packages: new Map(
    listUnder('Packages', architecture).map(({ names, text }) => [names[0]!, wordsOf(text)]),
  ),
  directories: new Map(
    roomPages()
      .filter((room) => /^## Directories$/m.test(pageOf(room)))
      .map((room) => [room, directoriesOf(room)]),
  ),
}
test('every room has a row, every row a room', () => {
  assert.equal([...new Set(sources.map(roomOf))].toSorted(), [...rules.rooms.keys()].toSorted())
  assert.ok(sources.length > 40)
})

test('in a room with a table of directories, every directory has a row, every row a directory', () => {
  assert.ok(rules.directories.has('odata'))
  for (const [room, table] of rules.directories) {
    const files = sources.filter((file) => roomOf(file) === room)
    const found = new Set(files.map(({ path }) => directoryOf(path)))
    assert.equal([...found].toSorted(), [...table.keys()].toSorted(), room)
  }
})

test('imports keep to the tables', () => {
  assert.equal(importViolations(sources, rules), [])
})

test('no files import each other in a circle but those of the lists of circles', () => {
  const natural = roomPages()
    .flatMap((room) => listUnder('Circles', pageOf(room)))
    .map(({ names }) => names.flatMap(expanded).map((name) => `src/${name}.ts`))
  assert.equal(sortedCircles(circlesOf(sources)), sortedCircles(natural))
})

test('a shortcut is entered by one file, which one other file imports, and one line takes it out', () => {
  for (const shortcut of shortcuts) {
    assert.equal(importsInto(shortcut, sources), [`${shortcut.importer} ${shortcut.entry}`])
    const importer = sources.find(({ path }) => path === shortcut.importer)!
    withoutLine(shortcut, importer.text)
  }
})

test('only the store imports a kind of store, and no command asks which one a target has', () => {
  const kinds = /\/store\/(files|lake)\//
  const entering = sources
    .filter((file) => roomOf(file) !== 'store')
    .filter(({ text }) => importsOf(text).some((specifier) => kinds.test(specifier)))
  assert.equal(pathsOf(entering), [])
  const asking = sources
    .filter((file) =>
      ['commands', 'compiler', 'pipeline', 'report', 'wiring'].includes(roomOf(file)),
    )
    .filter(({ text }) => /\.lake\b|=== 'lake'|!== 'lake'/.test(withoutComments(text)))
  assert.equal(pathsOf(asking), [])
})

test('no file of the store repeats the name of its directory', () => {
  const repeating = /\/store\/(files\/(file|.*-file)|lake\/(lake|.*-lake)|.*-store\.ts)/
  assert.equal(pathsOf(sources.filter(({ path }) => repeating.test(path))), [])
})

test('the check of shortcuts finds what enters them elsewhere', () => {
  const shortcut = { name: 'a/fast', entry: 'src/a/fast/b.ts', importer: 'src/a/c.ts', line: '' }
  const entered = (path: string, specifier: string) =>
    importsInto(shortcut, [{ path, text: `import type { X } from '${specifier}'` }])
  assert.equal(entered('src/a/c.ts', './fast/b.ts'), ['src/a/c.ts src/a/fast/b.ts'])
  assert.equal(entered('src/d.ts', './a/fast/e.ts'), ['src/d.ts src/a/fast/e.ts'])
  assert.equal(entered('src/a/fast/b.ts', './e.ts'), [])
  assert.equal(entered('src/a/c.ts', './faster/b.ts'), [])
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
    packages: new Map([
      ['@duckdb/*', new Set(['core'])],
      ['disk-tools', new Set(['buffer/disk'])],
    ]),
    directories: new Map([
      [
        'buffer',
        new Map([
          ['disk', { siblings: new Set<string>(), rooms: new Set(['core']) }],
          ['queue', { siblings: new Set(['disk/files']), rooms: new Set<string>() }],
          ['store', { siblings: new Set(['disk', 'queue']), rooms: new Set(['core']) }],
        ]),
      ],
    ]),
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
  assert.is(check('buffer/disk/a.ts', `import { x } from 'disk-tools'`), 0)
  assert.is(check('buffer/queue/a.ts', `import { x } from 'disk-tools'`), 1)
  assert.is(check('explorer/page/a.tsx', `import { x } from 'node:fs'`), 1)
  assert.is(check('buffer/a.ts', `import { x } from 'node:fs'`), 0)
  assert.is(check('core/a.ts', `import { x } from '../../test/x.ts'`), 1)
  assert.is(check('buffer/disk/a.ts', `import { x } from '../../core/x.ts'`), 0)
  assert.is(check('buffer/disk/a.ts', `import { x } from './b.ts'`), 0)
  assert.is(check('buffer/disk/a.ts', `import { x } from '../queue/x.ts'`), 1)
  assert.is(check('buffer/queue/a.ts', `import { x } from '../disk/files.ts'`), 0)
  assert.is(check('buffer/queue/a/b.ts', `import { x } from '../../disk/x.ts'`), 1)
  assert.is(check('buffer/queue/a.ts', `import { x } from '../../core/x.ts'`), 1)
  assert.is(check('buffer/store.ts', `import { x } from './queue/x.ts'`), 0)
  assert.is(check('buffer/disk/a.ts', `import { x } from '../store.ts'`), 1)
})

test('the search for circles finds them, and nothing else', () => {
  const file = (path: string, ...imports: readonly string[]) => ({
    path: `src/${path}.ts`,
    text: imports.map((name) => `import { x } from './${name}.ts'\n`).join(''),
  })
  const files = [file('a', 'b', 'd'), file('b', 'c'), file('c', 'a'), file('d', 'e'), file('e')]
  assert.equal(sortedCircles(circlesOf(files)), ['src/a.ts src/b.ts src/c.ts'])
  assert.equal(circlesOf([file('a', 'b'), file('b')]), [])
  assert.equal(['a/{b,c}', 'd/e'].flatMap(expanded), ['a/b', 'a/c', 'd/e'])
})

test('the environment and the exit of the process belong to cli, wiring and commands', () => {
  const wrong = sources
    .filter((file) => !['cli', 'wiring', 'commands'].includes(roomOf(file)))
    .filter(({ text }) => /\bprocess\s*\.\s*(env|exit|exitCode)\b/.test(withoutComments(text)))
  assert.equal(pathsOf(wrong), [])
})

test('only the compiler makes a ModelBody', () => {
  const makers = sources.filter(({ text }) => /\bModelBody\s*\.\s*of\b/.test(text)).map(roomOf)
  assert.equal([...new Set(makers)], ['compiler'])
})

test('in odata only sql and engine print SQL', () => {
  const printers = sources
    .filter((file) => roomOf(file) === 'odata' && importsOf(file.text).some(isSqlTag))
    .map(({ path }) => directoryOf(path))
  assert.equal([...new Set(printers)].toSorted(), ['engine', 'sql'])
})

const isSqlTag = (specifier: string) => specifier.endsWith('/core/sql.ts')

test('files are small, in kebab-case, and no file only passes on what others export', () => {
  assert.equal(pathsOf(all.filter(({ text }) => text.split('\n').length > MAX_LINES + 1)), [])
  const kebab = /^(src|test)(\/[a-z0-9-]+)+(\.(test|grammar|d))?\.tsx?$/
  assert.equal(pathsOf(all.filter(({ path }) => !kebab.test(path))), [])
  const barrel = /^export\s[^;'"]*\sfrom\s+['"]/m
  assert.equal(pathsOf(all.filter(({ text }) => barrel.test(text))), [])
})

function importViolations(
  files: readonly SourceFile[],
  { rooms, packages, directories }: Rules,
): readonly string[] {
  return files.flatMap((file) => {
    const room = roomOf(file)
    const allowed = rooms.get(room) ?? new Set()
    const directory = directoryOf(file.path)
    const within = directories.get(room)?.get(directory)
    const isInBrowser = `${room}/${directory}` === BROWSER
    return importsOf(file.text)
      .filter((specifier) => isInBrowser || !specifier.startsWith('node:'))
      .filter((specifier) => {
        if (!specifier.startsWith('.')) {
          const homes = rowOf(specifier, packages)
          return !homes?.has(room) && !homes?.has(`${room}/${directory}`)
        }
        const target = posix.join(dirname(file.path), specifier)
        const [top, targetRoom = ''] = target.split('/')
        if (top !== 'src') return true
        const targetFile = target.slice('src/'.length).replace(/\.tsx?$/, '')
        const names = [targetRoom, targetFile, 'everything']
        if (targetRoom === room)
          return within !== undefined && !isSibling(file.path, target, within)
        return !names.some((name) => allowed.has(name) && (within?.rooms.has(name) ?? true))
      })
      .map((specifier) => `${file.path} imports ${specifier}`)
  })
}

function isSibling(from: string, to: string, { siblings }: DirectoryRule): boolean {
  const directory = directoryOf(to)
  const file = to
    .split('/')
    .slice(2)
    .join('/')
    .replace(/\.tsx?$/, '')
  return directory === directoryOf(from) || siblings.has(directory) || siblings.has(file)
}

/** Each import that leads into a shortcut from outside. */
function importsInto({ name }: Shortcut, files: readonly SourceFile[]): readonly string[] {
  const isInside = (path: string) => path.startsWith(`src/${name}/`) || path === `src/${name}.ts`
  return files
    .filter(({ path }) => !isInside(path))
    .flatMap(({ path, text }) =>
      importsOf(text)
        .map((specifier) => posix.join(dirname(path), specifier))
        .filter(isInside)
        .map((target) => `${path} ${target}`),
    )
}

/** Sets of files each of which imports all others of the set, by itself or by way of them (Tarjan's algorithm). */
function circlesOf(files: readonly SourceFile[]): readonly (readonly string[])[] {
  const imports = new Map(
    files.map(({ path, text }) => [
      path,
      importsOf(text).map((specifier) => posix.join(dirname(path), specifier)),
    ]),
  )
  const found: (readonly string[])[] = []
  const stack: string[] = []
  const numbers = new Map<string, number>()
  const lowest = new Map<string, number>()
  const visit = (path: string) => {
    const number = numbers.size
    numbers.set(path, number)
    lowest.set(path, number)
    stack.push(path)
    for (const target of imports.get(path)!) {
      if (!imports.has(target)) continue
      if (!numbers.has(target)) visit(target)
      if (stack.includes(target)) lowest.set(path, Math.min(lowest.get(path)!, lowest.get(target)!))
    }
    if (lowest.get(path) !== number) return
    const circle = stack.splice(stack.indexOf(path))
    if (circle.length > 1) found.push(circle)
  }
  for (const path of imports.keys()) if (!numbers.has(path)) visit(path)
  return found
}

const sortedCircles = (circles: readonly (readonly string[])[]) =>
  circles.map((circle) => circle.toSorted().join(' ')).toSorted()

/** a/{b,c} stands for a/b and a/c. */
function expanded(name: string): readonly string[] {
  const [start = '', ends] = name.split(/[{}]/)
  return ends === undefined ? [name] : ends.split(',').map((end) => start + end)
}

function rowOf(
  specifier: string,
  packages: ReadonlyMap<string, ReadonlySet<string>>,
): ReadonlySet<string> | undefined {
  const parts = specifier.split('/')
  const name = specifier.startsWith('@') ? parts.slice(0, 2).join('/') : parts[0]!
  return packages.get(name) ?? packages.get(`${parts[0]}/*`)
}

const roomOf = ({ path }: SourceFile) => path.split('/')[1]!
/** The directory below the room; of a file in the room itself its name. */
const directoryOf = (path: string) => path.split('/')[2]!.replace(/\.tsx?$/, '')
const pathsOf = (files: readonly SourceFile[]) => files.map(({ path }) => path)

function directoriesOf(room: string): ReadonlyMap<string, DirectoryRule> {
  return new Map(
    listUnder('Directories', pageOf(room)).map(({ names, rule }) => {
      const [siblings = '', rooms = ''] = rule.split('; ')
      return [names[0]!, { siblings: wordsOf(siblings), rooms: wordsOf(rooms) }]
    }),
  )
}

test.run()
