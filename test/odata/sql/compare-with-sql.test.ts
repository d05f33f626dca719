// Requests beside SQL that says the same, on some hundred random rows: an answer that is not SQL's is wrong. The SQL is
// written by hand, after the specification, and runs on the tables as they are.

import { test } from 'uvu'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { answersAreThoseOf, type SqlCase } from '../../support/compare-with-sql.ts'

const ids = (condition: Sql) => sql`SELECT sale_id FROM g_sales WHERE ${condition} ORDER BY sale_id`

/** Conditions of $filter; SQL has NULL for what OData has as false or null alike, so `IS TRUE` is not needed. */
const filters: readonly (readonly [filter: string, condition: Sql])[] = [
  ["status eq 'paid'", sql`status = 'paid'`],
  ["status ne 'paid'", sql`status IS DISTINCT FROM 'paid'`],
  ['amount gt 20 and qty lt 3', sql`amount > 20 AND qty < 3`],
  ['amount ge -10.5 or status eq null', sql`amount >= -10.5 OR status IS NULL`],
  ['amount le 0', sql`amount <= 0`],
  ['not (amount gt 20)', sql`NOT coalesce(amount > 20, false)`],
  ["not contains(status,'p')", sql`NOT contains(status, 'p')`],
  ["status in ('open','',null)", sql`status IN ('open', '') OR status IS NULL`],
  ["not (status in ('open',''))", sql`NOT coalesce(status IN ('open', ''), false)`],
  ['qty has 5', sql`qty & 5 = 5`],
  ["startswith(status,'S') or endswith(status,'n')", sql`status[1] = 'S' OR status[-1] = 'n'`],
  ["tolower(status) eq 'späti' and toupper(status) eq 'SPÄTI'", sql`status = 'Späti'`],
  ['length(status) eq 5', sql`length(status) = 5`],
  ["indexof(status,'p') eq 1", sql`strpos(status, 'p') = 2`],
  ["substring(status,1,2) eq 'pe'", sql`substring(status, 2, 2) = 'pe'`],
  ["trim(concat(' ',status)) eq 'open'", sql`status = 'open'`],
  ["matchesPattern(status,'^[A-Z].+i$')", sql`regexp_full_match(status, '[A-Z].+i')`],
  [
    'year(sold_at) eq 2023 and month(sold_at) ge 6',
    sql`sold_at >= '2023-06-01' AND sold_at < '2024-01-01'`,
  ],
  ['day(due) eq 1', sql`date_part('day', due) = 1`],
  [
    'hour(sold_at) eq 23 and minute(sold_at) lt 56',
    sql`date_part('hour', sold_at) = 23 AND date_part('minute', sold_at) < 56`,
  ],
  ['second(sold_at) eq 30', sql`date_part('second', sold_at) = 30`],
  ['date(sold_at) eq 2023-03-05', sql`sold_at::DATE = '2023-03-05'`],
  ['time(sold_at) lt 23:55:30', sql`sold_at::TIME < '23:55:30'`],
  ['sold_at gt 2023-07-01T02:00:00+02:00', sql`sold_at > '2023-07-01 00:00:00'`],
  ["sold_at add duration'P1D' ge 2024-01-01T00:00:00Z", sql`sold_at >= '2023-12-31 00:00:00'`],
  ["due sub 2023-01-01 eq duration'P3D'", sql`due = '2023-01-04'`],
  ['amount add qty mul 2 sub 1 gt 100', sql`amount + qty * 2 - 1 > 100`],
  ['qty div 4 eq 1 and qty mod 4 eq 2', sql`qty = 6`],
  ['qty divby 4 eq 1.25', sql`qty = 5`],
  ['-qty gt 1', sql`qty < -1`],
  [
    'round(ratio) eq 1 or floor(ratio) eq -2 or ceiling(ratio) eq 2',
    sql`ratio >= 0.5 AND ratio < 1.5 OR ratio < -1 OR ratio > 1 AND ratio <= 2`,
  ],
  ['case(rush:amount,true:qty) gt 30', sql`CASE WHEN rush THEN amount ELSE qty END > 30`],
  ["cast(qty,Edm.String) eq '3'", sql`qty = 3`],
  ['rush and not (qty eq 0)', sql`rush AND qty <> 0`],
  [
    "client/city eq 'Oslo'",
    sql`client_id IN (SELECT client_id FROM g_clients WHERE city = 'Oslo')`,
  ],
  ['client eq null', sql`client_id IS NULL OR client_id NOT IN (SELECT client_id FROM g_clients)`],
  [
    'client/city eq null',
    sql`coalesce(client_id, -1) NOT IN (SELECT client_id FROM g_clients WHERE city IS NOT NULL)`,
  ],
]

/** Any other request; columns of SQL stand in the order of the properties. */
const requests: readonly SqlCase[] = [
  [
    'g_sales?$select=sale_id,amount&$orderby=amount desc,status&$top=30&$skip=5',
    sql`SELECT sale_id, amount FROM g_sales ORDER BY amount DESC NULLS LAST, status ASC NULLS FIRST, sale_id LIMIT 30 OFFSET 5`,
  ],
  [
    'g_sales?$select=sale_id,status&$orderby=length(status),qty mod 2 desc&$top=25',
    sql`SELECT sale_id, status FROM g_sales ORDER BY length(status) NULLS FIRST, qty % 2 DESC, sale_id LIMIT 25`,
  ],
  [
    'g_sales?$compute=amount mul qty as total&$filter=total gt 300&$select=sale_id,total',
    sql`SELECT sale_id, amount * qty FROM g_sales WHERE amount * qty > 300 ORDER BY sale_id`,
  ],
  [
    'g_sales?$search=op OR (SPÄ NOT x)&$select=sale_id',
    sql`SELECT sale_id FROM g_sales WHERE status ILIKE '%op%' OR status ILIKE '%spä%' ORDER BY sale_id`,
  ],
  [
    'g_clients?$filter=sales/any(s:s/amount gt 140)&$select=client_id',
    sql`SELECT client_id FROM g_clients c WHERE (SELECT bool_or(amount > 140) FROM g_sales s WHERE s.client_id = c.client_id) ORDER BY client_id`,
  ],
  [
    "g_clients?$filter=sales/all(s:s/status ne 'open')&$select=client_id",
    sql`SELECT client_id FROM g_clients c WHERE coalesce((SELECT bool_and(status IS DISTINCT FROM 'open') FROM g_sales s WHERE s.client_id = c.client_id), true) ORDER BY client_id`,
  ],
  [
    'g_clients?$filter=sales/$count($filter=rush) ge 4&$select=client_id',
    sql`SELECT client_id FROM g_clients c WHERE (SELECT count(*) FROM g_sales s WHERE s.client_id = c.client_id AND rush) >= 4 ORDER BY client_id`,
  ],
  [
    'g_clients(7)/sales?$select=sale_id&$filter=qty gt 0',
    sql`SELECT sale_id FROM g_sales WHERE client_id = 7 AND qty > 0 ORDER BY sale_id`,
  ],
  [
    'g_sales?$apply=aggregate(amount with sum as s,amount with min as a,amount with max as b,amount with average as m,status with countdistinct as d,$count as n)',
    sql`SELECT sum(amount), min(amount), max(amount), avg(amount), count(DISTINCT status), count(*) FROM g_sales`,
  ],
  [
    'g_sales?$apply=groupby((status),aggregate(amount with sum as s,$count as n))',
    sql`SELECT status, sum(amount), count(*) FROM g_sales GROUP BY status ORDER BY status NULLS FIRST`,
  ],
  [
    'g_sales?$apply=filter(qty gt 2)/groupby((rush),aggregate(qty mul 2 with max as m))',
    sql`SELECT rush, max(qty * 2) FROM g_sales WHERE qty > 2 GROUP BY rush ORDER BY rush`,
  ],
  [
    'g_sales?$apply=groupby((rollup(rush,status)),aggregate($count as n))/filter(n gt 40)/aggregate(n with sum as t,$count as g)',
    sql`SELECT sum(n), count(*) FROM (SELECT count(*) AS n FROM g_sales GROUP BY rush, status UNION ALL SELECT count(*) FROM g_sales GROUP BY rush) WHERE n > 40`,
  ],
  [
    'g_sales?$apply=topcount(7,amount)/aggregate(amount with sum as s)',
    sql`SELECT sum(amount) FROM (SELECT amount FROM g_sales ORDER BY amount DESC NULLS LAST LIMIT 7)`,
  ],
  [
    'g_sales?$apply=bottomcount(7,qty)/aggregate(qty with sum as s)',
    sql`SELECT sum(qty) FROM (SELECT qty FROM g_sales ORDER BY qty LIMIT 7)`,
  ],
  [
    'g_sales?$apply=compute(year(due) as y)/groupby((y),aggregate(amount with avg as a))&$filter=y gt 2023&$orderby=y desc',
    sql`SELECT year(due), avg(amount) FROM g_sales WHERE year(due) > 2023 GROUP BY 1 ORDER BY 1 DESC`,
  ],
  [
    'g_sales?$apply=orderby(amount desc)/skip(3)/top(4)/aggregate(amount with min as m)',
    sql`SELECT min(amount) FROM (SELECT amount FROM g_sales ORDER BY amount DESC NULLS LAST LIMIT 4 OFFSET 3)`,
  ],
  [
    'g_sales?$apply=concat(aggregate($count as n),filter(rush)/aggregate($count as n))',
    sql`SELECT count(*) FROM g_sales UNION ALL SELECT count(*) FILTER (rush) FROM g_sales`,
  ],
]

answersAreThoseOf(
  'filters',
  filters.map(([filter, condition]): SqlCase => [
    `g_sales?$select=sale_id&$filter=${filter}`,
    ids(condition),
  ]),
)
answersAreThoseOf('requests', requests)

test.run()
