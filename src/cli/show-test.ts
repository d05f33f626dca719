// A test of a model for people: one line, and below it the rows that differ.

import { count } from '../core/counts.ts'
import type { RowDifference, TextRow } from '../core/report/row-difference.ts'
import { cut, printable, terminalWidth } from './cells.ts'
import { type Paint, plain } from './paint.ts'
import { duration } from './run-lines.ts'
import { tableLines } from './table.ts'
import { escapeXml } from '../core/xml.ts'

export interface ShownTest {
  readonly model: string
  readonly name: string
  readonly about: string | null
  readonly runs: number
  readonly ms: number
  /** The file of the model; null: there is none. */
  readonly source: string | null
  readonly problem: string | null
  readonly difference: RowDifference | null
}

const CELL_COLUMNS = 40

export const hasPassed = ({ problem, difference }: Pick<ShownTest, 'problem' | 'difference'>) =>
  problem === null && difference === null

/** `width`: of the longest title. */
export function testLines(test: ShownTest, width: number, paint: Paint): readonly string[] {
  const { about, ms, source, problem, difference } = test
  const isOk = hasPassed(test)
  const word = isOk ? paint('green', 'ok      ') : paint('red', 'failed  ')
  const head = `${word} ${titleOf(test).padEnd(width)}  ${duration(ms)}`
  if (isOk) return [head]
  const below = [
    ...(about === null ? [] : [about]),
    ...(problem === null ? [] : [problem]),
    ...(difference === null ? [] : differenceLines(difference, paint)),
  ]
  const place =
    difference === null
      ? ''
      : `${difference.path}${difference.line === null ? '' : `:${difference.line}`}`
  const files = [source ?? '', place].filter((file) => file !== '')
  return [
    head,
    ...below.map((line) => `           ${line}`),
    ...(difference === null ? [] : [`           ${files.join(' · ')}`]),
  ]
}

export const titleOf = ({ model, name, runs }: Pick<ShownTest, 'model' | 'name' | 'runs'>) =>
  `${model} / ${name}${runs > 1 ? ` (${count(runs, 'run')})` : ''}`

function differenceLines(difference: RowDifference, paint: Paint): readonly string[] {
  const { columns, missing, unexpected, missingRows, unexpectedRows } = difference
  const rows = rowsOf(difference)
  const cell = (row: TextRow, name: string) => cut(printable(row[name] ?? 'NULL'), CELL_COLUMNS)
  const cells = rows.map(({ row, isBuilt, others }) => [
    ...columns.map((name) => cell(row, name)),
    isBuilt ? `built${others.length === 0 ? '' : `: other ${others.join(', ')}`}` : 'expected',
  ])
  const [head = '', ...lines] = tableLines([[...columns, ''], ...cells], { widthOf: terminalWidth })
  const more = (all: number, shown: number, what: string) =>
    all > shown ? [`  … and ${count(all - shown, 'row')} more ${what}`] : []
  return [
    `  ${head}`,
    ...lines.map((line, i) =>
      rows[i]!.isBuilt ? paint('green', `+ ${line}`) : paint('red', `- ${line}`),
    ),
    ...more(missingRows, missing.length, 'expected'),
    ...more(unexpectedRows, unexpected.length, 'built'),
  ]
}

interface ShownRow {
  readonly row: TextRow
  readonly isBuilt: boolean
  /** The columns in which it differs from the row above it. */
  readonly others: readonly string[]
}

/** What a row became stands below it. */
function rowsOf({ missing, unexpected, changed }: RowDifference): readonly ShownRow[] {
  const textOf = (row: TextRow) => JSON.stringify(row)
  const became = new Map(changed.map((one) => [textOf(one.expected), one]))
  const paired = new Set(changed.map(({ built }) => textOf(built)))
  return [
    ...missing.flatMap((row) => {
      const expected = { row, isBuilt: false, others: [] }
      const change = became.get(textOf(row))
      if (change === undefined) return [expected]
      return [expected, { row: change.built, isBuilt: true, others: change.columns }]
    }),
    ...unexpected
      .filter((row) => !paired.has(textOf(row)))
      .map((row) => ({ row, isBuilt: true, others: [] })),
  ]
}

// Results of tests as JUnit XML, which CI services show.

export function junitXml(tests: readonly ShownTest[]): string {
  const failures = tests.filter((test) => !hasPassed(test)).length
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites tests="${tests.length}" failures="${failures}">`,
    `  <testsuite name="eider test" tests="${tests.length}" failures="${failures}">`,
    ...tests.map(caseXml),
    '  </testsuite>',
    '</testsuites>',
    '',
  ].join('\n')
}

function caseXml(test: ShownTest): string {
  const seconds = (test.ms / 1000).toFixed(3)
  const head = `    <testcase classname="${escaped(test.model)}" name="${escaped(test.name)}" time="${seconds}"`
  if (hasPassed(test)) return `${head}/>`
  const [, ...lines] = testLines(test, 0, plain)
  const message = test.problem ?? 'other rows than expected'
  const failure = `<failure message="${escaped(message)}">${escaped(lines.join('\n'))}</failure>`
  return `${head}>${failure}</testcase>`
}

/** Control characters are no part of XML 1.0, not even escaped. */
const escaped = (text: string): string => escapeXml(text.replaceAll(/[^\P{Cc}\n\t]/gu, '\ufffd'))
