// Results of tests as JUnit XML, which CI services show.

import { escapeXml } from '../core/xml.ts'
import { hasPassed, type ShownTest, testLines } from './show-test.ts'
import { plain } from './paint.ts'

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
