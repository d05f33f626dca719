// Models in the third week: blanks that nobody sees, comparisons with NULL, watermarks of text, SQL of other databases.

import { line, two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

/** What is said of the line of an annotation above a SELECT, and the hint. */
const header = (
  id: string,
  mistake: string,
  text: string,
  message: string,
  hint: string,
): Mistake => ({
  id,
  mistake,
  files: two(`${text}\nSELECT order_id, status, amount FROM raw.orders\n`),
  answer: `models/mart/two.sql:${message}\nhint: ${hint}`,
  grade: 'A',
})

export const rows: readonly Mistake[] = [
  line(
    's14',
    'no-break and thin blanks around an annotation',
    '--\u00a0@kind:\u2009merge\u202f\nSELECT order_id, status FROM raw.orders',
    '1:11 error missing-unique-key: a model of kind merge needs @unique_key',
    'add a line such as -- @unique_key: id',
  ),
  {
    id: 's49-int',
    mistake: 'a contract with other names of types',
    files: two(
      '-- @expose id\n-- @contract: key(id)\n-- @contract: id INT NOT NULL\n-- @contract: name text\n-- @contract: n numeric(10, 2)\nSELECT order_id AS id, status AS name, amount AS n FROM raw.orders\n',
    ),
    answer: '',
    grade: 'A',
  },
  header(
    's14-check',
    'a no-break blank before a check, which is read',
    '--\u00a0@check: total > 0',
    '1:12 error sql-binding: no column "total"',
    'available here: status',
  ),
  line(
    's14-name',
    'a blank that nobody sees in a name',
    `SELECT "status\u00a0" AS a FROM raw.orders`,
    '1:8 error sql-binding: no column "status<U+00A0>"',
    `did you mean "status"? Or, if it is text: 'status\u00a0'`,
  ),
  line(
    's18-where',
    'a comparison with NULL in WHERE',
    'SELECT order_id FROM raw.orders WHERE status <> NULL',
    '1:39 warning null-comparison: "status <> NULL" is NULL for every row, and a filter keeps none of them',
    'write status IS NOT NULL',
  ),
  header(
    's18',
    'a check against NULL',
    '-- @check: status != NULL',
    '1:12 error invalid-check: "status != NULL" is NULL for every row, which no check takes for a mistake',
    'write status IS NOT NULL, or not_null(status)',
  ),
  header(
    's18-equal',
    '= NULL in the where of a check',
    '-- @check: not_null(order_id) where status = NULL',
    '1:37 error invalid-check: "status = NULL" is NULL for every row, which no check takes for a mistake',
    'write status IS NULL',
  ),
  header(
    's31',
    'a list that is not closed in a check',
    "-- @check: status in ('a', 'b'",
    '1:12 error invalid-check: the condition ends within parentheses',
    'a ")" is missing at its end',
  ),
  header(
    's15',
    'a watermark of text',
    '-- @kind: append\n-- @incremental: status',
    `2:18 warning text-watermark: the watermark "status" is VARCHAR, and text is compared letter by letter: '31.01.2026' comes after '01.02.2026', so rows of a later day would not be read`,
    `make it a date in the SELECT: strptime(status, '%d.%m.%Y')::DATE AS status; or, where it is like 2026-01-31, status::DATE AS status`,
  ),
  header(
    's49',
    'a contract of two columns on one line',
    '-- @expose order_id\n-- @contract: order_id INT, status VARCHAR',
    '2:27 error annotation-syntax: annotation not understood: expected nothing, key(columns), or one column with its type: name TYPE [NOT NULL]',
    'write a line for each column: -- @contract: order_id INT',
  ),
]
