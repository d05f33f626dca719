// Rules of CONTRIBUTING.md that need the syntax of every file.

import { readdirSync, readFileSync } from 'node:fs'
import { join, posix } from 'node:path'
import { parseSync, Visitor } from 'rolldown/utils'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from './support/workspace.ts'

interface ParsedFile {
  /** Relative to the repository, with forward slashes. */
  readonly path: string
  readonly exported: readonly string[]
  /** `path name` of each import; `path *` of one that takes all. */
  readonly imported: readonly string[]
  readonly comments: readonly string[]
  /** Functions that are longer than the rule. */
  readonly long: readonly string[]
}

const MAX_FUNCTION_LINES = 70

/** Words such as `Scope` mean the same in two rooms, each about its own thing. */
const MOST_SHARED_NAMES = 40

/** bin/run.js, oclif and the loader of Node ask for these by their names. */
const askedByName: readonly string[] = [
  'src/cli/command-not-found.ts default',
  'src/cli/main.ts main',
  'test/simulation/change-source.ts initialize',
  'test/simulation/change-source.ts load',
]

/** first-hour.test.ts reads all of this directory. */
const READ_WHOLE = 'test/first-hour/rows/'

/** The OData client o.js is no file. */
const otherNames = ['o.js']

const files = ['src', 'test'].flatMap(filesBelow).map(readFile)
const scripts = ['.ci', 'bin', '.'].flatMap(scriptsIn).map(readFile)

test('every export is imported by another file', () => {
  const imported = new Set([...files, ...scripts].flatMap((file) => file.imported))
  const unused = files
    .filter(({ path }) => !imported.has(`${path} *`) && !path.startsWith(READ_WHOLE))
    .flatMap(({ path, exported }) => exported.map((name) => `${path} ${name}`))
    .filter((name) => !imported.has(name))
  assert.equal(unused, askedByName)
})

test('few exported names are borne by two files', () => {
  const placesOf = new Map<string, string[]>()
  for (const { path, exported } of files.filter((file) => file.path.startsWith('src/')))
    for (const name of exported.filter((each) => each !== 'default'))
      placesOf.set(name, [...(placesOf.get(name) ?? []), path])
  const borne = [...placesOf].filter(([, paths]) => paths.length > 1)
  const list = borne.map(([name, paths]) => `${name}: ${paths.join(', ')}`)
  assert.ok(borne.length <= MOST_SHARED_NAMES, list.join('\n'))
})

test('every file that a comment names is there', () => {
  const there = new Set(everyFile().flatMap(endsOf))
  const isThere = (name: string) =>
    [name, name.replace(/js$/, 'ts')].some((path) => there.has(path.replace(/^(?:dist|\.+)\//, '')))
  const stale = files.flatMap(({ path, comments }) =>
    comments
      .flatMap((text) => text.match(/(?<![\w*{},./…-])\w[\w./-]*\.(?:tsx?|c?js|md)\b/g) ?? [])
      .filter((name) => !otherNames.includes(name) && !isThere(name))
      .map((name) => `${path} ${name}`),
  )
  assert.equal(stale, [])
})

test('functions are short', () => {
  const long = files
    .filter(({ path }) => path.startsWith('src/'))
    .flatMap((file) => file.long.map((name) => `${file.path} ${name}`))
  assert.equal(long, [])
})

test('what these rules read of a file is all that is in it', () => {
  const lines = Array.from({ length: MAX_FUNCTION_LINES }, () => '  x()\n').join('')
  const text = [
    `import { a as b, type C } from './d.ts'`,
    `import * as all from '../e.ts'`,
    `const { f, g: h } = await import('./i.ts')`,
    `const j = await import('./k.ts')`,
    `type L = import('./m.ts').N`,
    `export const o = 1, p = 2 // see q.ts`,
    `export interface R {}`,
    `export function long() {\n${lines}}`,
  ]
  const file = parsed('src/s/t.ts', text.join('\n'))
  assert.equal(file.exported, ['o', 'p', 'R', 'long'])
  const names = ['d.ts a', 'd.ts C', 'i.ts f', 'i.ts g', 'k.ts *', 'm.ts N'].map(
    (n) => `src/s/${n}`,
  )
  assert.equal([...file.imported].toSorted(), [...names, 'src/e.ts *'].toSorted())
  assert.equal(file.comments, [' see q.ts'])
  assert.equal(file.long, ['long'])
})

function readFile(path: string): ParsedFile {
  return parsed(path, readFileSync(join(repository, path), 'utf8'))
}

function parsed(path: string, text: string): ParsedFile {
  const { program, comments, module, errors } = parseSync(path, text)
  assert.equal(errors, [], path)
  const from = (specifier: string) => sourceOf(posix.join(posix.dirname(path), specifier))
  const fixed = module.staticImports.flatMap(({ moduleRequest, entries }) =>
    entries.map(({ importName }) => `${from(moduleRequest.value)} ${importName.name ?? '*'}`),
  )
  const later = module.dynamicImports.flatMap(({ start, moduleRequest }) => {
    const source = from(text.slice(moduleRequest.start + 1, moduleRequest.end - 1))
    // const { a, b: c } = await import('…')
    const [, names] = /\{([^{}]*)\}\s*=\s*await\s*$/.exec(text.slice(0, start)) ?? []
    return (names?.match(/(?<![:\w]\s*)\w+/g) ?? ['*']).map((name) => `${source} ${name}`)
  })
  const types = [...text.matchAll(/import\('([^']+)'\)\.(\w+)/g)].map(
    ([, specifier, name]) => `${from(specifier!)} ${name}`,
  )
  return {
    path,
    exported: module.staticExports.flatMap(({ entries }) =>
      entries.map(({ exportName }) => exportName.name ?? 'default'),
    ),
    imported: [...fixed, ...later, ...types],
    comments: comments.map(({ value }) => value),
    long: longFunctionsOf(program, text),
  }
}

/** The scripts of the build import what tsc has made. */
function sourceOf(path: string): string {
  return path.replace(/^dist\/(.*)\.js$/, '$1.ts')
}

function longFunctionsOf(
  program: Parameters<Visitor['visit']>[0],
  text: string,
): readonly string[] {
  const long: string[] = []
  const note = ({ start, end }: { readonly start: number; readonly end: number }) => {
    const lines = text.slice(start, end).split('\n').length
    if (lines <= MAX_FUNCTION_LINES) return
    const head = text.slice(text.lastIndexOf('\n', start) + 1, end).split('\n')[0]!
    long.push(/(?:function|const)\s+(\w+)|(#?\w+)\(/.exec(head)?.slice(1).find(Boolean) ?? head)
  }
  new Visitor({
    FunctionDeclaration: note,
    FunctionExpression: note,
    ArrowFunctionExpression: note,
  }).visit(program)
  return long
}

function filesBelow(top: string): readonly string[] {
  return readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
    .filter((path) => /\.tsx?$/.test(path))
    .map((path) => posix.join(top, path.split('\\').join('/')))
    .toSorted()
}

function scriptsIn(directory: string): readonly string[] {
  return readdirSync(join(repository, directory))
    .filter((name) => name.endsWith('.js'))
    .map((name) => posix.join(directory, name))
}

function everyFile(): readonly string[] {
  const below = ['.ci', '.github', 'bin', 'docs', 'example-project', 'src', 'templates', 'test']
  return ['.', ...below].flatMap((top) =>
    readdirSync(join(repository, top), { recursive: top !== '.', encoding: 'utf8' }).map((path) =>
      posix.join(top, path.split('\\').join('/')),
    ),
  )
}

/** A comment names a path from where it is clear on. */
function endsOf(path: string): readonly string[] {
  const parts = path.split('/')
  return parts.map((_, i) => parts.slice(i).join('/'))
}

test.run()
