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
  header(
    's49',
    'a contract of two columns on one line',
    '-- @expose order_id\n-- @contract: order_id INT, status VARCHAR',
    '2:27 error annotation-syntax: annotation not understood: expected nothing, key(columns), or one column with its type: name TYPE [NOT NULL]',
    'write a line for each column: -- @contract: order_id INT',
  ),
]
