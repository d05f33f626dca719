// SQL of other databases, conditions of checks, and requests in the words of other services.

import { line, two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

const get = (id: string, mistake: string, url: string, answer: string): Mistake => ({
  id,
  mistake,
  ask: { get: url },
  answer,
  grade: 'A',
})

const check = (id: string, mistake: string, text: string, answer: string): Mistake => ({
  id,
  mistake,
  files: two(`-- @check: ${text}\nSELECT order_id, status, amount FROM raw.orders\n`),
  answer: `models/mart/two.sql:${answer}`,
  grade: 'A',
})

const FORMS = `annotation not understood: expected a condition in SQL, or not_null(a, b), unique(a, b), accepted(a, 'x', 'y'), references(a, schema.model.column), row_count(> 0)`

export const rows: readonly Mistake[] = [
  line(
    'nu57',
    'now() in a WITH below a history',
    '-- @kind: scd2\n-- @unique_key: order_id\nWITH x AS (SELECT order_id, now() AS loaded FROM raw.orders) SELECT * FROM x',
    '3:29 warning changing-column: the column "loaded" is now(), another value in each run, which gives each row a new version each time',
    'leave it out, since valid_from says when a version began; or compare the others: -- @compare: columns',
  ),
  get(
    'nu36',
    'a year as text',
    "/core_orders?$filter=year(changed_at) eq '2026'",
    '400 $filter: what it is compared with is a number; write it without quotes: 2026',
  ),
  get(
    'nu38',
    'the order of a column that $apply has not left',
    '/core_orders?$apply=groupby((status),aggregate($count as n))&$orderby=amount',
    '400 $orderby: core_orders has no property "amount" (at character 1); here $apply has left status, n',
  ),
  get(
    'nu39',
    'aggregate beside groupby',
    '/core_orders?$apply=groupby((status)),aggregate($count as n)',
    '400 $apply at character 18: aggregate stands inside of groupby: groupby((status),aggregate(…))',
  ),
  get(
    'nu39-comma',
    'a comma between transformations',
    '/core_orders?$apply=filter(amount gt 5),groupby((status))',
    '400 $apply at character 20: transformations are separated by "/", not ","',
  ),
  get(
    'nu39-median',
    'a median',
    '/core_orders?$apply=aggregate(amount with median as m)',
    '400 $apply: there is no aggregation method "median" (at character 11): there are sum, min, max, average, countdistinct',
  ),
  get(
    'nu40',
    'a comma between options of $expand',
    '/ref_countries?$expand=core_orders($top=1,$select=order_id)',
    '400 $top must be a non-negative integer; options in parentheses are separated by ";", not ","',
  ),
  get(
    'nu40-select',
    'a comma after $select of $expand',
    '/ref_countries?$expand=core_orders($select=order_id,$top=1)',
    '400 $expand at character 30: options in parentheses are separated by ";", not ","',
  ),
  get(
    'nu41',
    'any without a name for the items',
    "/ref_countries?$filter=core_orders/any(status eq 'paid')",
    "400 $filter at character 24: any gives each item a name first: any(o:o/status eq 'paid')",
  ),
  get(
    'nu41-call',
    'any with a function, and without a name for the items',
    "/ref_countries?$filter=core_orders/any(contains(status,'a'))",
    '400 $filter at character 25: any gives each item a name first: any(o:contains(o/…))',
  ),
  get(
    'nu42',
    'a comma before desc',
    '/core_orders?$orderby=amount,desc',
    '400 $orderby: core_orders has no property "desc" (at character 8); a direction follows its property after a space: name desc',
  ),
  line(
    'nu81',
    'a path into JSON of Snowflake',
    'SELECT order_id, status:price::string AS p FROM raw.orders',
    '1:39 error sql-syntax: syntax error at or near "AS"',
    "a value of JSON is read by ->>: status->>'price'",
  ),
  line(
    'nu81-bare',
    'the same without a name',
    'SELECT order_id, status:price FROM raw.orders',
    '1:25 error sql-binding: no column "price"',
    "a value of JSON is read by ->>: status->>'price'",
  ),
  line(
    'nu83',
    'DATE_TRUNC of BigQuery',
    'SELECT DATE_TRUNC(changed_at, MONTH) AS m FROM raw.orders',
    '1:31 error sql-binding: no column "MONTH"',
    "the unit comes first, as text: date_trunc('month', changed_at)",
  ),
  line(
    'nu83-sub',
    'DATE_SUB of BigQuery',
    'SELECT DATE_SUB(current_date, INTERVAL 1 DAY) AS d FROM raw.orders',
    '1:8 error sql-binding: date_sub does not take DATE, INTERVAL',
    'write current_date - INTERVAL 1 DAY',
  ),
  line(
    'nu85',
    'a pattern without regard to case',
    "SELECT order_id FROM raw.orders WHERE status ~* 'pai'",
    '1:46 error sql-binding: no operator "~*"',
    "write ILIKE '%part%', or regexp_matches(x, 'pattern', 'i')",
  ),
  line(
    'nu85-json',
    'json_build_object of PostgreSQL',
    "SELECT json_build_object('a', order_id) AS j FROM raw.orders",
    '1:8 error sql-binding: no function "json_build_object"',
    "in DuckDB: json_object('name', order_id)",
  ),
  line(
    'nu64',
    'groups of what is unnested',
    "SELECT order_id, unnest(string_split(status, '|')) AS tag, count(*) AS n FROM raw.orders GROUP BY ALL",
    '1:18 error sql-binding: Cannot group on an UNNEST or UNLIST clause',
    "unnest it in FROM, and group by the column that this gives: FROM …, unnest(string_split(status, '|')) AS t(tag)",
  ),
  check(
    'nu88',
    'where after a condition',
    "amount > 0 where status = 'paid'",
    `1:23 error invalid-check: "where" follows the checks that are written like calls, and no condition
    hint: write NOT (status = 'paid') OR amount > 0`,
  ),
  check(
    'nu89',
    'text in double quotes',
    'accepted(status, "paid")',
    `1:29 error annotation-syntax: ${FORMS}
    hint: text goes in single quotes: accepted(status, 'paid')`,
  ),
  check(
    'nu89-more',
    'several texts in double quotes',
    'accepted(status, "paid", "open")',
    `1:29 error annotation-syntax: ${FORMS}
    hint: text goes in single quotes: accepted(status, 'paid', …)`,
  ),
  check(
    'nu89-second',
    'text in double quotes after another one',
    'accepted(status, \'paid\', "open")',
    `1:37 error annotation-syntax: ${FORMS}
    hint: text goes in single quotes: accepted(status, 'paid', 'open')`,
  ),
  check(
    'nu89-list',
    'a list in brackets',
    "accepted(status, ['paid'])",
    `1:29 error annotation-syntax: ${FORMS}
    hint: list the values alone: accepted(a, 'x', 'y')`,
  ),
  check(
    'nu89-column',
    'a reference to a model without its column',
    'references(order_id, core.orders)',
    `1:44 error annotation-syntax: ${FORMS}
    hint: name the column there too, such as references(order_id, core.orders.order_id)`,
  ),
  check(
    'nu89-when',
    'when for where',
    'unique(order_id) when amount > 0',
    `1:29 error annotation-syntax: ${FORMS}
    hint: the rows that it looks at follow where: unique(order_id) where …`,
  ),
  check(
    'nu89-upto',
    'upto in one word',
    'not_null(status) upto 5%',
    `1:29 error annotation-syntax: ${FORMS}
    hint: write up to 5%`,
  ),
  check(
    'nu89-bound',
    'upto after a condition',
    'amount > 0 upto 5%',
    `1:23 error invalid-check: a check says otherwise how much it may find
    hint: write up to 5%`,
  ),
]
