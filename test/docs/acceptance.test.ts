// docs/acceptance.md and the numbers in the names of tests keep together.

import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { repository } from '../support/workspace.ts'

const read = (path: string) => readFileSync(join(repository, path), 'utf8')

const rows = [...read('docs/acceptance.md').matchAll(/^\| ([QEX]\d{3}) \|.*\| (.*?) *\|$/gm)].map(
  ([, number = '', tests = '']) => ({ number, tests }),
)

/** The texts of a test file that begin with a number: names of tests. */
const numbersOf = (path: string): ReadonlySet<string> =>
  new Set(
    [...read(path).matchAll(/['"`]([QEX]\d{3}[^'"`\n]*)/g)].flatMap(([, name = '']) =>
      spelled(name),
    ),
  )

/** "Q049 to Q051, Q061" is four numbers. */
const spelled = (name: string): readonly string[] =>
  [...name.matchAll(/\b([QEX])(\d{3})(?: to [QEX](\d{3}))?/g)].flatMap(([, letter, first, last]) =>
    Array.from(
      { length: Number(last ?? first) - Number(first) + 1 },
      (_, i) => `${letter}${String(Number(first) + i).padStart(3, '0')}`,
    ),
  )

const testFiles = readdirSync(join(repository, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((path) => path.endsWith('.test.ts'))
  .map((path) => `test/${path.replaceAll('\\', '/')}`)

test('each number has one row, in order', () => {
  const numbers = rows.map(({ number }) => number)
  assert.ok(numbers.length > 200)
  for (const letter of 'QEX') {
    const own = numbers.filter((number) => number.startsWith(letter))
    assert.equal(
      own,
      own.map((_, i) => `${letter}${String(i + 1).padStart(3, '0')}`),
    )
  }
})

test('each number in the name of a test is in the list', () => {
  const known = new Set(rows.map(({ number }) => number))
  const used = testFiles.flatMap((path) => [...numbersOf(path)].map((number) => ({ path, number })))
  assert.ok(used.length > 200)
  assert.equal(
    used.filter(({ number }) => !known.has(number)),
    [],
  )
})

test('each row names tests that there are: files with its number, or with the name of the test', () => {
  assert.equal(
    rows.flatMap(({ number, tests }) => faultOf(number, tests)),
    [],
  )
})

function faultOf(number: string, tests: string): readonly string[] {
  const named = [...tests.matchAll(/`(test\/[^`]+)`(?: "([^"]+)")?/g)]
  if (named.length === 0) return /^not tested[:;] \S/.test(tests) ? [] : [`${number}: no test`]
  return named.flatMap(([, path = '', name]) => {
    if (!existsSync(join(repository, path))) return [`${number}: there is no ${path}`]
    if (!path.endsWith('.test.ts')) return []
    const isIn = name === undefined ? numbersOf(path).has(number) : nameIsIn(path, name)
    return isIn ? [] : [`${number}: not in ${path}: ${name ?? number}`]
  })
}

/** A name may be cut off at its front, where it begins with a value. */
const nameIsIn = (path: string, name: string): boolean =>
  read(path).replaceAll("\\'", "'").includes(name)

test.run()
