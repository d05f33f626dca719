import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { errors as collectErrors } from '../../src/collect/errors.ts'
import { allCodes } from '../../src/core/diagnostics.ts'
import { errorCodes, odataError } from '../../src/odata/protocol/errors.ts'
import { repository } from '../support/workspace.ts'

const page = readFileSync(join(repository, 'docs', 'errors.md'), 'utf8')

interface Row {
  readonly code: string
  readonly rest: readonly string[]
}

function rowsBelow(heading: string): readonly Row[] {
  const [, after] = page.split(`\n## ${heading}\n`)
  assert.ok(after !== undefined, `docs/errors.md has no "${heading}"`)
  const [section = ''] = after.split('\n## ')
  return section
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim()))
    .map(([, code = '', ...rest]) => ({ code: code.replaceAll('`', ''), rest: rest.slice(0, -1) }))
}

const codesBelow = (heading: string) => rowsBelow(heading).map(({ code }) => code)

function sourceOf(top: string): string {
  const files = readdirSync(join(repository, top), { recursive: true, encoding: 'utf8' })
  const texts = files.filter((file) => file.endsWith('.ts'))
  return texts.map((file) => readFileSync(join(repository, top, file), 'utf8')).join('\n')
}

/**
 * Codes that are given where the error is made, as `make('code'` or `make(400, 'code'`, have a row; and each row is a
 * word of the source. Codes that reach the constructor by a variable are found by the second half only.
 */
function compareWithSource(
  documented: readonly string[],
  tops: readonly string[],
  make: string,
): void {
  const source = tops.map(sourceOf).join('\n')
  const made = new RegExp(`\\b(?:${make})\\(\\s*(?:\\d+,\\s*)?'([a-z-]+)'`, 'g')
  const codes = [...source.matchAll(made)].map(([, code = '']) => code)
  assert.ok(codes.length > 3)
  assert.equal(
    codes.filter((code) => !documented.includes(code)),
    [],
    'codes without a row',
  )
  assert.equal(
    documented.filter((code) => !source.includes(`'${code}'`)),
    [],
    'rows without a code',
  )
}

test('diagnostics: every code has a row, every row a code', () => {
  assert.equal(codesBelow('Errors in a project'), allCodes)
})

test('environment: every code has a row, every row a code', () => {
  compareWithSource(codesBelow('Environment problems'), ['src'], 'EnvironmentError|failure')
})

test('both services: every code has a row, every row a code', () => {
  const tops = ['src/http', 'src/access']
  compareWithSource(codesBelow('Answers of both services'), tops, 'RequestError')
})

test('collect: the rows are those of the code, with their status and a meaning', () => {
  const documented = rowsBelow('Answers of the collect service').map(({ code, rest }) => [
    code,
    rest[0],
  ])
  const actual = Object.entries(collectErrors).map(([code, status]) => [code, String(status)])
  assert.equal(documented, actual)
  for (const { code, rest } of rowsBelow('Answers of the collect service'))
    assert.ok(rest[1]!.endsWith('.'), code)
})

test('odata: the rows are those of the code, with their status', () => {
  const documented = rowsBelow('Answers of the OData service').map(
    ({ code, rest }) => `${code} ${rest[0]}`,
  )
  assert.equal(
    documented,
    errorCodes.map((code) => `${code} ${odataError(code, '').status}`),
  )
})

test.run()
