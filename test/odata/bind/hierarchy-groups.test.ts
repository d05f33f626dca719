// Hierarchies where transformations work on parts of the rows: within groupby, join, nest and addnested, and several at once.
// The same values come of SQL as a person would write it.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { encodedTarget } from '../../support/json-rows.ts'
import { testsSharing } from '../../support/shared.ts'
import type { Table } from '../../support/snapshot-files.ts'

const hierarchies = [{ name: 'org', node: 'org_id', parent: 'above_id' }]

/** Two trees, an orphan, and a circle of two. */
const orgs: Table = {
  model: 'hr.orgs',
  key: ['org_id'],
  hierarchies,
  rows: sql`SELECT * FROM (VALUES
    ('S', NULL, 'Sales', 'x'), ('US', 'S', 'USA', 'x'), ('UE', 'US', 'East', 'y'), ('UW', 'US', 'West', NULL),
    ('EM', 'S', 'EMEA', 'y'), ('EC', 'EM', 'Central', 'y'), ('O', 'none', 'Other', NULL), ('C1', 'C2', 'One', 'x'),
    ('C2', 'C1', 'Two', 'x')
  ) AS v(org_id, above_id, name, zone)`,
}

const parts: Table = {
  model: 'hr.parts',
  key: ['part_id'],
  hierarchies: [{ name: 'tree', node: 'part_id', parent: 'of_id' }],
  rows: sql`SELECT * FROM (VALUES (1, NULL), (2, 1), (3, 1), (4, 3)) AS v(part_id, of_id)`,
}

const sales: Table = {
  model: 'hr.sales',
  key: ['sale'],
  rows: sql`SELECT * FROM (VALUES
    (1, 'UW', 1, 'a', 1.5, 7), (2, 'UE', 2, 'a', 2.5, 8), (3, 'UE', 4, 'b', NULL, 4), (4, 'EC', 4, 'b', 4.0, 2),
    (5, 'EC', 2, NULL, 1.0, 1), (6, 'S', 3, NULL, 9.0, 5), (7, 'C1', 1, 'a', 3.0, 3), (8, NULL, 2, 'b', 2.0, 6),
    (9, 'gone', NULL, 'a', 1.0, 9)
  ) AS v(sale, org_id, part_id, kind, price, amount)`,
}

const onOrgs = testsSharing(() => InMemoryTables.open([orgs, parts, sales]))

const names: Readonly<Record<string, string>> = {
  O: '$root/hr_orgs,org,org_id',
  P: '$root/hr_parts,tree,part_id',
}

const written = (target: string) =>
  target.replaceAll(/(?<=[(,])[OP](?=[,)])/g, (name) => names[name]!)

/** `pairs`: each node with each above it and itself; of parts in the same way. Both are of nodes that a root leads to. */
const NAMES = sql`WITH RECURSIVE o AS (FROM hr_orgs.main.rows), p AS (FROM hr_parts.main.rows), s AS (FROM hr_sales.main.rows),
  up AS (SELECT org_id AS node, org_id AS above FROM o UNION SELECT up.node, o.above_id FROM up JOIN o ON o.org_id = up.above
    WHERE o.above_id IN (SELECT org_id FROM o)),
  tree AS (SELECT org_id FROM o WHERE above_id IS NULL OR above_id NOT IN (SELECT org_id FROM o)
    UNION SELECT o.org_id FROM o JOIN tree ON o.above_id = tree.org_id),
  pairs AS (SELECT * FROM up WHERE node IN (FROM tree)),
  pup AS (SELECT part_id AS node, part_id AS above FROM p UNION SELECT pup.node, of_id FROM pup JOIN p ON part_id = pup.above
    WHERE of_id IS NOT NULL)`

const IN_GROUPS = sql`SELECT sale FROM s WHERE EXISTS (FROM s t JOIN up ON up.above = t.org_id
  WHERE t.amount > 6 AND up.node = s.org_id AND t.kind IS NOT DISTINCT FROM s.kind)`

const same: Readonly<Record<string, Sql>> = {
  // Start nodes are those of the same group.
  'hr_sales?$apply=groupby((kind),descendants(O,filter(amount gt 6),keep start))&$select=sale&$orderby=sale': sql`${IN_GROUPS} ORDER BY 1`,
  'hr_orgs?$apply=groupby((zone),descendants(O,filter(true)))&$select=org_id&$orderby=org_id': sql`SELECT DISTINCT a.org_id FROM o a JOIN up ON up.node = a.org_id JOIN o b ON b.org_id = up.above
      WHERE a.zone IS NOT DISTINCT FROM b.zone AND (a.org_id <> b.org_id OR a.org_id IN ('C1', 'C2')) ORDER BY 1`,
  'hr_orgs?$apply=groupby((zone),ancestors(O,filter(true)))&$select=org_id&$orderby=org_id': sql`SELECT DISTINCT b.org_id FROM o a JOIN up ON up.node = a.org_id JOIN o b ON b.org_id = up.above
      WHERE a.zone IS NOT DISTINCT FROM b.zone AND (a.org_id <> b.org_id OR a.org_id IN ('C1', 'C2')) ORDER BY 1`,
  'hr_orgs?$apply=groupby((zone),ancestors(O,topcount(1,name),1))&$select=org_id&$orderby=org_id': sql`SELECT b.org_id FROM (SELECT * FROM o QUALIFY row_number() OVER (PARTITION BY zone ORDER BY name DESC) = 1) a
      JOIN o b ON b.org_id = a.above_id AND b.zone IS NOT DISTINCT FROM a.zone ORDER BY 1`,
  'hr_sales?$apply=groupby((kind),traverse(O,preorder)/aggregate(amount with sum as s,$count as n))': sql`SELECT kind, sum(amount), count(*) FROM s JOIN tree USING (org_id) GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  // Each node has a row in each group.
  'hr_sales?$apply=groupby((kind),groupby((rolluprecursive(O)),aggregate(amount with sum as s,$count as n)))&$select=kind,org_id,s,n&$orderby=kind,org_id': sql`SELECT k.kind, tree.org_id, sum(amount), count(sale) FROM (SELECT DISTINCT kind FROM s) k CROSS JOIN tree
      LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node) ON above = tree.org_id AND s.kind IS NOT DISTINCT FROM k.kind
      GROUP BY ALL ORDER BY 1 NULLS FIRST, 2`,
  'hr_sales?$apply=groupby((kind),groupby((rolluprecursive(O)),aggregate(amount with sum as s))/aggregate(s with max as m))': sql`SELECT kind, max(s) FROM (SELECT kind, above, sum(amount) AS s FROM s JOIN pairs ON s.org_id = node GROUP BY ALL)
      GROUP BY 1 ORDER BY 1 NULLS FIRST`,
  // Two at once: each pair of nodes, those without rows too.
  'hr_sales?$apply=groupby((rolluprecursive(O),rolluprecursive(P)),aggregate(amount with sum as s,$count as n))&$orderby=org_id,part_id': sql`SELECT tree.org_id, p.part_id, sum(amount), count(sale) FROM tree CROSS JOIN p
      LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node JOIN pup ON s.part_id = pup.node) ON pairs.above = tree.org_id AND pup.above = p.part_id
      GROUP BY ALL ORDER BY 1, 2`,
  'hr_sales?$apply=groupby((kind,rolluprecursive(O),rolluprecursive(P)),aggregate($count as n))&$orderby=kind,org_id,part_id&$select=kind,org_id,part_id,n': sql`SELECT kind, pairs.above, pup.above, count(*) FROM s JOIN pairs ON s.org_id = pairs.node JOIN pup ON s.part_id = pup.node
      GROUP BY ALL ORDER BY 1 NULLS FIRST, 2, 3`,
  'hr_sales?$apply=groupby((rollup(kind,price),rolluprecursive(O)),aggregate(amount with sum as s))&$select=kind,price,org_id,s&$orderby=kind,isdefined(price) desc,price,org_id': sql`SELECT kind, price, above, sum(amount) FROM s JOIN pairs ON s.org_id = node
      GROUP BY GROUPING SETS ((kind, price, above), (kind, above)) ORDER BY 1 NULLS FIRST, grouping(price), 2 NULLS FIRST, 3`,
  'hr_sales?$apply=groupby((rolluprecursive(O)),concat(aggregate($count as n),filter(amount gt 4)/aggregate($count as n)))&$select=org_id,n&$orderby=org_id,n': sql`SELECT org_id, n FROM (SELECT tree.org_id, count(sale) AS n FROM tree LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node) ON above = tree.org_id GROUP BY 1
      UNION ALL SELECT tree.org_id, count(sale) FROM tree LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node AND amount > 4) ON above = tree.org_id GROUP BY 1) ORDER BY 1, 2`,
  // A sequence chooses which nodes are there; their rows are still those of all below them.
  "hr_sales?$apply=groupby((rolluprecursive(O,ancestors(O,filter(org_id eq 'UE'),keep start))),aggregate(amount with sum as s))": sql`SELECT above, sum(amount) FROM s JOIN pairs ON s.org_id = node WHERE above IN ('UE', 'US', 'S') GROUP BY 1 ORDER BY 1`,
  "hr_sales?$apply=ancestors(O,filter(org_id eq 'UE'),keep start)/groupby((rolluprecursive(O,filter(org_id in ('UE','US')))),aggregate(amount with sum as s))": sql`SELECT above, sum(amount) FROM s JOIN pairs ON s.org_id = node WHERE s.org_id IN ('UE', 'US', 'S') AND above IN ('UE', 'US') GROUP BY 1 ORDER BY 1`,
  // What the node itself has, and what is below it.
  'hr_sales?$apply=groupby((rolluprecursive(O)),compute(case(org_id eq Aggregation.rollupnode()/org_id:amount) as own)/aggregate(amount with sum as s,own with sum as t))&$orderby=org_id': sql`SELECT tree.org_id, sum(amount), sum(amount) FILTER (node = above) FROM tree
      LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node) ON above = tree.org_id GROUP BY 1 ORDER BY 1`,
  'hr_sales?$apply=groupby((rolluprecursive(O)),filter(org eq Aggregation.rollupnode(Position=1))/aggregate(amount with sum as s))&$orderby=org_id': sql`SELECT org_id, sum(amount) FROM tree LEFT JOIN s USING (org_id) GROUP BY 1 ORDER BY 1`,
  'hr_sales?$apply=groupby((rolluprecursive(O),rolluprecursive(P)),filter(part_id eq Aggregation.rollupnode(Position=2)/part_id)/aggregate($count as n))&$orderby=org_id,part_id': sql`SELECT tree.org_id, p.part_id, count(sale) FROM tree CROSS JOIN p
      LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node) ON pairs.above = tree.org_id AND s.part_id = p.part_id GROUP BY ALL ORDER BY 1, 2`,
  'hr_orgs?$apply=groupby((rolluprecursive(O)),filter($it ne Aggregation.rollupnode())/aggregate($count as n))&$select=org_id,n&$orderby=org_id': sql`SELECT org_id, count(node) FROM tree LEFT JOIN pairs ON above = org_id AND node <> above GROUP BY 1 ORDER BY 1`,
  // Within join, which works on the rows of each row separately.
  'hr_orgs?$apply=join(sales as s,descendants(O,filter(amount ge 8),keep start))&$select=org_id,s/sale&$orderby=org_id,s/sale': sql`SELECT org_id, sale FROM s WHERE EXISTS (FROM s t WHERE t.org_id = s.org_id AND t.amount >= 8) AND org_id IN (SELECT org_id FROM o) ORDER BY 1, 2`,
  'hr_parts?$apply=join(sales as s,groupby((rolluprecursive(O)),aggregate(amount with sum as t,$count as n)))&$select=part_id,s/org_id,s/t,s/n&$orderby=part_id,s/org_id': sql`SELECT p.part_id, tree.org_id, sum(amount), count(sale) FROM p CROSS JOIN tree
      LEFT JOIN (s JOIN pairs ON s.org_id = pairs.node) ON above = tree.org_id AND s.part_id = p.part_id GROUP BY ALL ORDER BY 1, 2`,
}

for (const [target, statement] of Object.entries(same))
  onOrgs(`as in SQL: ${target}`, async (tables) => {
    const expected = await tables.run(sql`${NAMES} ${statement}`)
    const found = await tables.rows(encodedTarget(written(target)))
    const values = (rows: readonly object[]) =>
      rows.map((row) =>
        Object.entries(row)
          .filter(([name]) => !name.endsWith(' mark'))
          .map(([, value]) => String(value)),
      )
    assert.ok(expected.length > 0)
    assert.equal(values(found), values(expected))
  })

test.run()
