// As golden-sql.test.ts: what requests say of related rows.

import { test } from 'uvu'
import { sql } from '../../../src/core/sql.ts'
import { answersAreThoseOf } from './golden.ts'

test('counts of related rows, of those that are found and those that pass', () =>
  answersAreThoseOf([
    [
      'g_clients?$compute=sales/$count($search=p) as n&$select=client_id,n',
      sql`SELECT client_id, (SELECT count(*) FROM g_sales s WHERE s.client_id = c.client_id AND status ILIKE '%p%') FROM g_clients c ORDER BY client_id`,
    ],
    [
      'g_clients?$compute=sales/$count($search=NOT p;$filter=qty gt 1) as n&$filter=n gt 2&$select=client_id,n',
      sql`SELECT * FROM (SELECT client_id, (SELECT count(*) FROM g_sales s WHERE s.client_id = c.client_id AND coalesce(status NOT ILIKE '%p%', true) AND qty > 1) AS n FROM g_clients c) WHERE n > 2 ORDER BY client_id`,
    ],
  ]))

test('pairs: $compute, $search, $orderby and $select', () =>
  answersAreThoseOf([
    [
      '$crossjoin(g_clients,g_sales)?$filter=g_clients/client_id eq g_sales/client_id and g_clients/client_id lt 6&$compute=g_sales/amount mul g_clients/client_id as weight,g_sales/sale_id as id&$select=weight,id&$orderby=weight desc,id',
      sql`SELECT s.amount * c.client_id, s.sale_id FROM g_clients c JOIN g_sales s ON c.client_id = s.client_id WHERE c.client_id < 6 ORDER BY 1 DESC NULLS LAST, 2`,
    ],
    [
      '$crossjoin(g_clients,g_sales)?$filter=g_sales/sale_id lt 9 and g_clients/client_id lt 9&$search=oslo AND (open OR paid)&$compute=g_sales/sale_id as s,g_clients/client_id as c&$select=s,c&$orderby=s,c',
      sql`SELECT s.sale_id, c.client_id FROM g_clients c, g_sales s WHERE s.sale_id < 9 AND c.client_id < 9 AND c.city = 'Oslo' AND s.status IN ('open', 'paid') ORDER BY 1, 2`,
    ],
    [
      'g_sales?$apply=groupby((client/city,status),aggregate($count as n))/search(oslo)/aggregate(n with sum as t)',
      sql`SELECT count(*) FROM g_sales s JOIN g_clients c USING (client_id) WHERE city = 'Oslo'`,
    ],
  ]))

test('isdefined tells subtotals from groups of null', () =>
  answersAreThoseOf([
    [
      'g_sales?$apply=groupby((rollup(rush,status)),aggregate($count as n))/filter(isdefined(status))',
      sql`SELECT rush, status, count(*) FROM g_sales GROUP BY ALL ORDER BY rush, status NULLS FIRST`,
    ],
    [
      'g_sales?$apply=groupby((rollup($all,client/city,status)),aggregate($count as n))&$filter=not isdefined(status) and isdefined(client/city)&$select=client/city,n',
      sql`SELECT city, count(*) FROM g_sales LEFT JOIN g_clients USING (client_id) GROUP BY city ORDER BY city NULLS FIRST`,
    ],
    [
      'g_sales?$apply=groupby((rollup(rush,status)),aggregate($count as n))/compute(case(isdefined(status):0,true:1) as level)/groupby((level),aggregate(n with sum as s,$count as c))',
      sql`SELECT 0, sum(n), count(*) FROM (SELECT count(*) AS n FROM g_sales GROUP BY rush, status) UNION ALL SELECT 1, sum(n), count(*) FROM (SELECT count(*) AS n FROM g_sales GROUP BY rush)`,
    ],
    [
      'g_sales?$apply=concat(groupby((status),aggregate($count as n)),aggregate($count as n))/groupby((status),aggregate(n with sum as s))/filter(not isdefined(status))&$select=s',
      sql`SELECT count(*) FROM g_sales`,
    ],
    [
      'g_sales?$apply=groupby((status),aggregate($count as n))/filter(not isdefined(amount) and not isdefined(client) and isdefined(n))/aggregate(n with sum as t)',
      sql`SELECT count(*) FROM g_sales`,
    ],
    [
      'g_sales?$filter=isdefined(status) and isdefined(client/city) and not isdefined(amount) eq false&$select=sale_id',
      sql`SELECT sale_id FROM g_sales ORDER BY sale_id`,
    ],
  ]))

test.run()
