// As compare-with-sql.test.ts: what requests say of related rows.

import { test } from 'uvu'
import { sql } from '../../../src/core/sql.ts'
import { answersAreThoseOf } from '../../support/compare-with-sql.ts'

answersAreThoseOf('counts of related rows, of those that are found and those that pass', [
  [
    'g_clients?$compute=sales/$count($search=p) as n&$select=client_id,n',
    sql`SELECT client_id, (SELECT count(*) FROM g_sales s WHERE s.client_id = c.client_id AND status ILIKE '%p%') FROM g_clients c ORDER BY client_id`,
  ],
  [
    'g_clients?$compute=sales/$count($search=NOT p;$filter=qty gt 1) as n&$filter=n gt 2&$select=client_id,n',
    sql`SELECT * FROM (SELECT client_id, (SELECT count(*) FROM g_sales s WHERE s.client_id = c.client_id AND coalesce(status NOT ILIKE '%p%', true) AND qty > 1) AS n FROM g_clients c) WHERE n > 2 ORDER BY client_id`,
  ],
])

answersAreThoseOf('pairs: $compute, $search, $orderby and $select', [
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
])

answersAreThoseOf('isdefined tells subtotals from groups of null', [
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
])

answersAreThoseOf('$these: the input of a transformation, or the group', [
  [
    'g_sales?$apply=filter(amount gt $these/aggregate(amount with average))/aggregate($count as n)',
    sql`SELECT count(*) FROM g_sales WHERE amount > (SELECT avg(amount) FROM g_sales)`,
  ],
  [
    'g_sales?$apply=filter(qty gt 0)/filter(amount mul 2 ge $these/aggregate(amount with max) or $these/$count lt 10)/aggregate($count as n)',
    sql`SELECT count(*) FROM g_sales WHERE qty > 0 AND amount * 2 >= (SELECT max(amount) FROM g_sales WHERE qty > 0)`,
  ],
  [
    'g_sales?$apply=groupby((status),filter(amount eq $these/aggregate(amount with max))/aggregate($count as n,amount with max as m))',
    sql`SELECT status, count(*), max(amount) FROM g_sales s WHERE amount = (SELECT max(amount) FROM g_sales t WHERE t.status IS NOT DISTINCT FROM s.status) GROUP BY status ORDER BY status NULLS FIRST`,
  ],
  [
    'g_sales?$apply=groupby((client/city),aggregate(amount with sum as s))/compute(s divby $these/aggregate(s with sum) as share)',
    sql`SELECT city, sum(amount), sum(amount)::DOUBLE / (SELECT sum(amount) FROM g_sales) FROM g_sales LEFT JOIN g_clients USING (client_id) GROUP BY city ORDER BY city NULLS FIRST`,
  ],
  [
    "g_sales?$apply=groupby((client/city,status),aggregate($count as n))/filter(n gt $these/$count($filter=client/city eq 'Oslo'))/aggregate($count as groups)",
    sql`SELECT count(*) FROM (SELECT city, status, count(*) AS n FROM g_sales LEFT JOIN g_clients USING (client_id) GROUP BY ALL) WHERE n > (SELECT count(DISTINCT coalesce(status, 'null')) FROM g_sales JOIN g_clients USING (client_id) WHERE city = 'Oslo')`,
  ],
  [
    'g_sales?$apply=filter(not $these/any(t:t/amount gt $it/amount) and amount ne null)/aggregate(amount with max as m,$count as n)',
    sql`SELECT max(amount), count(*) FILTER (amount = (SELECT max(amount) FROM g_sales)) FROM g_sales`,
  ],
  [
    'g_sales?$apply=groupby((client/city),aggregate($count as n))/filter($these/all(t:t/n le $it/n or t/client/city eq null))&$select=n',
    sql`WITH groups AS (SELECT city, count(*) AS n FROM g_sales LEFT JOIN g_clients USING (client_id) GROUP BY city) SELECT n FROM groups WHERE n >= (SELECT max(n) FROM groups WHERE city IS NOT NULL) ORDER BY city NULLS FIRST`,
  ],
  [
    'g_sales?$apply=orderby(qty sub $these/aggregate(qty with min) desc)/top(5)/aggregate(qty with sum as s)',
    sql`SELECT sum(qty) FROM (SELECT qty FROM g_sales ORDER BY qty DESC LIMIT 5)`,
  ],
  [
    'g_sales?$apply=groupby((status),topsum(50,amount sub $these/aggregate(amount with min))/aggregate($count as n))',
    sql`SELECT status, count(*) FROM (SELECT *, coalesce(sum(above) OVER (PARTITION BY status ORDER BY above DESC NULLS LAST, sale_id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before FROM (SELECT *, amount - min(amount) OVER (PARTITION BY status) AS above FROM g_sales)) WHERE before < 50 GROUP BY status ORDER BY status NULLS FIRST`,
  ],
  [
    'g_sales?$apply=groupby((status),aggregate(amount divby $these/aggregate(amount with sum) with max as share))',
    sql`SELECT status, max(amount)::DOUBLE / sum(amount) FROM g_sales GROUP BY status ORDER BY status NULLS FIRST`,
  ],
  [
    'g_sales?$apply=compute(client/name eq $these/aggregate(client/name with max) as last)/filter(last)/aggregate($count as n)',
    sql`SELECT count(*) FROM g_sales JOIN g_clients USING (client_id) WHERE name = (SELECT max(name) FROM g_sales JOIN g_clients USING (client_id))`,
  ],
  [
    'g_sales?$apply=groupby((rollup(rush,status)),aggregate($count as n))/compute($these/$count($filter=not isdefined(status)) as totals,$these/any(t:not isdefined(t/status) and t/n eq $it/n) as total)/filter(not isdefined(status) and total)/groupby((totals),aggregate($count as n))',
    sql`SELECT 2, 2`,
  ],
])

test.run()
