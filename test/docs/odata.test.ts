import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../src/core/limits.ts'
import { repository } from '../workspace.ts'

const page = readFileSync(join(repository, 'docs', 'odata.md'), 'utf8')

/** The numbers of a row of the table of limits, without their commas. */
function numbersOf(row: string): readonly number[] {
  const [, cell] = page.split(`\n| ${row} `)
  assert.ok(cell !== undefined, `docs/odata.md has no limit "${row}"`)
  const [line = ''] = cell.split('\n')
  return [...line.replaceAll(',', '').matchAll(/\d+/g)].map(([digits]) => Number(digits))
}

test('the table of limits has the numbers of the code', () => {
  const KiB = 1024
  assert.is(numbersOf('time of a query in the engine')[0], limits.queryTimeoutMs / 1000)
  assert.equal(numbersOf('queries at work, queries waiting').slice(0, 2), [
    limits.runningQueries,
    limits.waitingQueries,
  ])
  assert.is(numbersOf('URL')[0], limits.urlBytes / KiB)
  const lengths = new Set(Object.values(limits.optionLengths))
  assert.equal(
    numbersOf('one option').filter((number) => number !== 400),
    [...lengths].toSorted((a, b) => b - a),
  )
  assert.is(numbersOf('nesting of an expression')[0], limits.expressionDepth)
  assert.is(numbersOf('body of a batch')[0], limits.batchBodyBytes / KiB / KiB)
})

test.run()
