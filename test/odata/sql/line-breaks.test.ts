import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { formatSql } from '../../../src/odata/sql/line-breaks.ts'

test('clauses begin lines, subqueries are indented, functions are not', () => {
  assert.is(
    formatSql(
      'SELECT a, b FROM (SELECT count(x) AS a FROM t WHERE (p OR q)) AS s ORDER BY a LIMIT 1',
    ),
    `SELECT a, b
FROM (
  SELECT count(x) AS a
  FROM t
  WHERE (p OR q)
) AS s
ORDER BY a
LIMIT 1`,
  )
  assert.is(
    formatSql('SELECT row_number() OVER (PARTITION BY a ORDER BY b) FROM t'),
    'SELECT row_number() OVER (PARTITION BY a ORDER BY b)\nFROM t',
  )
})

test('what is in quotes stays as it is', () => {
  const text = `SELECT ' it''s  FROM (SELECT' AS "a  WHERE ""b", 'c\n FROM d'`
  assert.is(formatSql(text), text)
})

test.run()
