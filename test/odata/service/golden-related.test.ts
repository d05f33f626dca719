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

test.run()
