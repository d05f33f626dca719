import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { Resources } from '../../../src/core/resources.ts'
import { sql } from '../../../src/core/sql.ts'
import { InMemoryTables } from '../../support/in-memory-tables.ts'
import { encodedTarget, jsonRows } from '../../support/json-rows.ts'
import { serve } from '../../support/odata-service.ts'
import { seededRandom } from '../../support/seeded-random.ts'
import { testsSharing } from '../../support/shared.ts'
import type { Table } from '../../support/snapshot-files.ts'

const hierarchies = [{ name: 'org', node: 'id', parent: 'manager_id' }]

/** Two trees, an orphan with somebody below, a circle of two with somebody below, and one in a circle alone. */
const people: Table = {
  model: 'hr.people',
  key: ['id'],
  hierarchies,
  rows: sql`SELECT * FROM (VALUES
    (1, NULL, 'Ann'), (2, 1, 'Bob'), (3, 1, 'Cid'), (4, 2, 'Dan'), (5, 4, 'Eve'), (6, 99, 'Fay'), (7, 6, 'Gus'),
    (8, 9, 'Hal'), (9, 8, 'Ida'), (10, 9, 'Jon'), (11, 11, 'Kay'), (12, NULL, 'Abe')
  ) AS v(id, manager_id, name)`,
}

const sales: Table = {
  model: 'hr.sales',
  key: ['sale'],
  rows: sql`SELECT * FROM (VALUES (1, 1, 10), (2, 2, 20), (3, 4, 40), (4, 5, 50), (5, 12, 5), (6, 99, 1), (7, NULL, 2))
    AS v(sale, person, amount)`,
}

const onPeople = testsSharing(() => InMemoryTables.open([people, sales]))

const H = '$root/hr_people,org,id'

const names = async (tables: InMemoryTables, target: string) =>
  (await tables.rows(encodedTarget(`hr_people?${target}&$select=name`)))
    .map((row) => Object.values(row)[0] as string)
    .join(' ')

const applied: Readonly<Record<string, string>> = {
  "descendants(H,filter(name eq 'Bob'))": 'Dan Eve',
  "descendants(H,filter(name eq 'Bob'),keep start)": 'Bob Dan Eve',
  "descendants(H,filter(name eq 'Ann'),1)": 'Bob Cid',
  "descendants(H,filter(name eq 'Ann'),2,keep start)": 'Ann Bob Cid Dan',
  // Bob is below Ann, whom the request begins with too.
  "descendants(H,filter(name in ('Ann','Bob')),1)": 'Bob Cid Dan',
  'descendants(H,filter(id eq 1),filter(id ne 4))': 'Bob Cid',
  "descendants(H,filter(name eq 'Hal'))": 'Hal Ida Jon',
  "descendants(H,filter(name eq 'Hal'),3,keep start)": 'Hal Ida Jon',
  "descendants(H,filter(name eq 'Kay'))": 'Kay',
  "descendants(H,search(Fay))/filter(name ne 'x')": 'Gus',
  "ancestors(H,filter(name eq 'Eve'))": 'Ann Bob Dan',
  "ancestors(H,filter(name eq 'Eve'),2)": 'Bob Dan',
  "ancestors(H,filter(name eq 'Eve'),keep start)": 'Ann Bob Dan Eve',
  "ancestors(H,filter(name eq 'Gus'))": 'Fay',
  "ancestors(H,filter(name eq 'Jon'))": 'Hal Ida',
  'ancestors(H,topcount(1,id),keep start)': 'Abe',
  "ancestors(H,ancestors(H,filter(name eq 'Eve'),1),1)": 'Bob',
  'traverse(H,preorder)': 'Ann Bob Dan Eve Cid Fay Gus Abe',
  'traverse(H,postorder)': 'Eve Dan Bob Cid Ann Gus Fay Abe',
  'traverse(H,preorder,name desc)': 'Fay Gus Ann Cid Bob Dan Eve Abe',
  // A tree for each node that is chosen, in the order asked for; a circle ends where it began.
  'traverse(H,preorder,filter(id in (2,12,8)),name)': 'Abe Bob Dan Eve Hal Ida Jon',
  'traverse(H,preorder,filter(id in (2,4)))': 'Bob Dan Eve Dan Eve',
  'traverse(H,postorder,filter(id in (1,8)))': 'Eve Dan Bob Cid Ann Jon Ida Hal',
  'traverse(H,preorder)/skip(2)/top(3)': 'Dan Eve Cid',
  'filter(id ne 2)/traverse(H,preorder)': 'Ann Dan Eve Cid Fay Gus Abe',
  "ancestors(H,filter(name eq 'Eve'),keep start)/traverse(H,postorder)": 'Eve Dan Bob Ann',
}

for (const [apply, found] of Object.entries(applied))
  onPeople(apply, async (tables) =>
    assert.is(await names(tables, `$apply=${apply.replaceAll(/\bH\b/g, H)}`), found),
  )

const P = "HierarchyNodes=$root/hr_people,HierarchyQualifier='org',Node=id"

const filtered: Readonly<Record<string, string>> = {
  'Org.OData.Aggregation.V1.isroot(P)': 'Ann Fay Abe',
  'Aggregation.isleaf(P)': 'Cid Eve Gus Jon Abe',
  'aggregation.IsNode(P) and id lt 3': 'Ann Bob',
  'Aggregation.isdescendant(P,Ancestor=1)': 'Bob Cid Dan Eve',
  'Aggregation.isdescendant(P,Ancestor=2,MaxDistance=1,IncludeSelf=true)': 'Bob Dan',
  'Aggregation.isdescendant(P,Ancestor=8)': 'Hal Ida Jon',
  'Aggregation.isdescendant(P,Ancestor=99,IncludeSelf=true)': '',
  'Aggregation.isdescendant(P,Ancestor=null)': '',
  'Aggregation.isancestor(P,Descendant=5)': 'Ann Bob Dan',
  'Aggregation.isancestor(P,Descendant=5,MaxDistance=1)': 'Dan',
  'Aggregation.issibling(P,Other=2)': 'Cid',
  'Aggregation.issibling(P,Other=1)': 'Fay Abe',
  'Aggregation.issibling(P,Other=99)': '',
  'not Aggregation.isdescendant(P,Ancestor=1) and id lt 7': 'Ann Fay',
}

for (const [filter, found] of Object.entries(filtered))
  onPeople(filter, async (tables) =>
    assert.is(await names(tables, `$filter=${filter.replace('P', P)}`), found),
  )

onPeople('rows that lead to nodes are those of a hierarchy too', async (tables) => {
  const amounts = (apply: string) => tables.first(encodedTarget(`hr_sales?$apply=${apply}`))
  assert.is(
    await amounts(
      `descendants(${S},filter(person eq 1),keep start)/aggregate(amount with sum as s)`,
    ),
    '120',
  )
  assert.is(await amounts(`traverse(${S},preorder)`), '1 2 3 4 5')
  assert.is(await amounts(`ancestors(${S},filter(person eq 5))/aggregate($count as n)`), '3')
})

/** Rows of an answer, each value after the other; what comes of `nested` stands in the place of its key. */
const printed = async (tables: InMemoryTables, target: string) =>
  (await tables.rows(encodedTarget(target)))
    .map((row) => Object.values(row).map(String).join(':'))
    .join(' ')

const S = '$root/hr_people,org,person'

const rolled: Readonly<Record<string, string>> = {
  // Each node that a root leads to, with all below it; a total of no rows is a row.
  'hr_people?$apply=groupby((rolluprecursive(H)),aggregate($count as n))&$select=name,n':
    'Ann:5 Bob:3 Cid:1 Dan:2 Eve:1 Fay:2 Gus:1 Abe:1',
  'hr_sales?$apply=groupby((rolluprecursive(S)),aggregate(amount with sum as s,$count as n))':
    '1:120:4 2:110:3 3:null:0 4:90:2 5:50:1 6:null:0 7:null:0 12:5:1',
  'hr_sales?$apply=groupby((rolluprecursive(S)),filter(amount gt 45)/aggregate($count as n)/filter(n lt 1))':
    '3:0 6:0 7:0 12:0',
  'hr_sales?$apply=groupby((rolluprecursive(S)),aggregate(amount with sum as s)/compute(s mul 2 as t))/filter(t gt 100)&$select=t':
    '240 220 180',
  // Of some of the nodes, each with all below it.
  'hr_sales?$apply=groupby((rolluprecursive(S,filter(id ne 2))),aggregate(amount with sum as s))':
    '1:120 3:null 4:90 5:50 6:null 7:null 12:5',
  'hr_sales?$apply=groupby((rolluprecursive(S,descendants(H,filter(id eq 2),keep start))),aggregate(amount with sum as s))':
    '2:110 4:90 5:50',
  // Groups are those that there are.
  'hr_sales?$apply=compute(amount gt 30 as big)/groupby((big,rolluprecursive(S)),aggregate($count as n))':
    '1:false:2 1:true:2 2:false:1 2:true:2 4:true:2 5:true:1 12:false:1',
  'hr_sales?$apply=groupby((rolluprecursive(S)))': '1 2 3 4 5 6 7 12',
  'hr_people?$apply=groupby((rolluprecursive(H,traverse(H,postorder,filter(id eq 2)))),aggregate($count as n))&$select=name,n':
    'Eve:1 Dan:2 Bob:3',
  'hr_sales?$apply=groupby((rolluprecursive(S)),topcount(1,amount))&$select=person,sale':
    '1:4 2:4 4:4 5:4 12:5',
  'hr_people?$apply=groupby((rolluprecursive(H)),aggregate($count as n))/traverse(H,postorder)&$select=name,n&$filter=n gt 1':
    'Dan:2 Bob:3 Ann:5 Fay:2',
  'hr_people?$apply=groupby((rolluprecursive(H)),aggregate($count as n))&$select=name&$expand=manager($select=name)&$filter=n eq 3':
    'Bob:1',
}

for (const [target, found] of Object.entries(rolled))
  onPeople(target, async (tables) => {
    const url = target.replaceAll(/\bH\b/g, H).replaceAll(/\bS\b/g, S)
    assert.is(await printed(tables, url), found)
  })

onPeople('the way to a node is told where trees begin at nodes that are chosen', async (tables) => {
  const ways = async (apply: string, set = 'hr_people') =>
    (await jsonRows(tables, `${set}?$apply=${apply.replaceAll(/\bH\b/g, H)}&$select=name`)).map(
      (row) => (row as Record<string, unknown>)['@Aggregation.UpPath#org'],
    )
  assert.equal(await ways('traverse(H,preorder,filter(id in (2,4)))/compute(1 as x)'), [
    [],
    ['2'],
    ['4', '2'],
    [],
    ['4'],
  ])
  assert.equal(await ways('traverse(H,preorder)/top(2)'), [undefined, undefined])
  const [first] = await jsonRows(tables, `hr_sales?$apply=traverse(${S},preorder,filter(id eq 4))`)
  assert.equal((first as object)['person@Aggregation.UpPath#org' as never], [])
})

onPeople('a hierarchy is navigation to the row above and to those below', async (tables) => {
  assert.is(await names(tables, "$filter=manager/manager/name eq 'Ann'"), 'Dan')
  assert.is(await names(tables, '$filter=org_children/$count eq 2'), 'Ann Ida')
})

onPeople('mistakes are told with their place', (tables) => {
  const refused = (option: string) => {
    const { status, message } = tables.refusal(encodedTarget(`hr_people?${option}`))
    return `${status} ${message}`
  }
  for (const [option, answer] of [
    [
      '$apply=descendants($root/hr_people,orgg,id,filter(true))',
      '400 $apply: hr_people has no hierarchy "orgg" (at character 29); did you mean "org"?',
    ],
    [
      '$apply=descendants($root/hr_sales,org,id,filter(true))',
      '400 $apply: hr_sales has no hierarchy "org" (at character 28); the header of a model says it by -- @hierarchy',
    ],
    [
      '$apply=traverse(id,org,id,preorder)',
      '400 $apply: the nodes of a hierarchy are those of a set, such as $root/set (at character 10)',
    ],
    [
      '$apply=traverse($root/hr_people,org,name,preorder)',
      '400 $apply: nodes are Edm.Int32, and this is Edm.String (at character 30)',
    ],
    [
      '$apply=filter(id eq Aggregation.rollupnode()/id)',
      '400 $apply: rollupnode(Position=1) is known only in what groupby makes of the nodes of rolluprecursive (at character 14)',
    ],
    [
      '$apply=groupby((rolluprecursive($root/hr_people,org,id)),filter(id eq Aggregation.rollupnode(Position=2)/id))',
      '400 $apply: rollupnode(Position=2) is known only in what groupby makes of the nodes of rolluprecursive (at character 64)',
    ],
    [
      '$apply=groupby((rolluprecursive($root/hr_people,org,id)),aggregate($count as name))',
      '400 $apply: "name" is taken by the node of rolluprecursive',
    ],
    [
      '$apply=groupby((id,rolluprecursive($root/hr_people,org,manager_id)),aggregate($count as manager_id))',
      '400 $apply: "manager_id" is taken by the node of rolluprecursive',
    ],
    [
      '$apply=groupby((rolluprecursive($root/hr_people,org,name)))',
      '400 $apply: nodes are Edm.Int32, and this is Edm.String (at character 46)',
    ],
    [
      '$apply=descendants($root/hr_people,org,id,filter(true),0)',
      '400 $apply: a distance between nodes is a whole number from 1 to 10000; without one it is not limited',
    ],
    [
      `$filter=Aggregation.isroot(id)`,
      '400 $filter: the parameters of Aggregation.isroot have names (at character 1): Aggregation.isroot(HierarchyNodes=…,HierarchyQualifier=…,Node=…)',
    ],
    [
      `$filter=Aggregation.isroot(${P},Other=1)`,
      '400 $filter: Aggregation.isroot has one Other too many (at character 1): Aggregation.isroot(HierarchyNodes=…,HierarchyQualifier=…,Node=…)',
    ],
    [
      `$filter=Aggregation.isdescendant(${P},Ancestor=manager_id)`,
      '501 $filter: the node that others are compared with must be a value, not one of each row (at character 99)',
    ],
    [
      '$filter=length(a=name) eq 1',
      '400 $filter: the parameters of length have no names (at character 1)',
    ],
  ] as const)
    assert.is(refused(option), answer)
  assert.match(
    refused('$apply=descendants($root/hr_people,org,id,aggregate($count as n))'),
    /^400 .*aggregate within descendants would make other rows/,
  )
})

const deep: Table = {
  model: 'hr.deep',
  key: ['id'],
  hierarchies,
  rows: sql`SELECT i::INTEGER AS id, CASE WHEN i > 0 THEN i - 1 END::INTEGER AS manager_id FROM range(1200) r(i)`,
}

test('a tree that is too deep to be sorted is refused, and its nodes are found', async () => {
  await using tables = await InMemoryTables.open([deep])
  const of = '$root/hr_deep,org,id'
  const count = (apply: string) =>
    tables.first(encodedTarget(`hr_deep?$apply=${apply}/aggregate($count as n)`))
  assert.is(await count(`descendants(${of},filter(id eq 0))`), '1199')
  assert.is(await count(`traverse(${of},preorder,filter(id eq 200))`), '1000')
  const failure = await count(`traverse(${of},preorder)`).then(
    () => '',
    (error: unknown) => String(error),
  )
  assert.match(failure, 'the tree is too deep')
  const rolledUp = (within: string) =>
    count(`groupby((rolluprecursive(${of}${within})),aggregate(id with sum as s))`).catch(String)
  assert.match(await rolledUp(',filter(id lt 300)'), 'the tree to roll up is too deep')
  assert.match(await rolledUp(''), 'the tree to roll up is too deep')
  // What the advice names has no such limit.
  const below = `Aggregation.isdescendant(HierarchyNodes=$root/hr_deep,HierarchyQualifier='org',Node=id,Ancestor=0)`
  assert.is(await count(`filter(${below})`), '1199')
})

test('too deep a tree is refused by the name of what was asked for', async () => {
  await using resources = new Resources()
  const served = await serve(resources, [deep])
  const refused = async (apply: string) => {
    const { status, json } = await served.get(encodedTarget(`hr_deep?$apply=${apply}`))
    assert.equal([status, json.error.code], [400, 'expression-too-deep'], json.error.message)
    return json.error.message as string
  }
  const of = '$root/hr_deep,org,id'
  const rollup = await refused(`groupby((rolluprecursive(${of})),aggregate(id with sum as s))`)
  assert.match(rollup, /^rolluprecursive takes .* 1000 levels: .*filter\(.*isdescendant/)
  assert.not.match(rollup, /traverse|preorder/)
  assert.match(await refused(`traverse(${of},preorder)`), /^traverse takes .*preorder/)
})

/** The nodes that a node leads to by `next`, each once. */
function reachedFrom(
  start: number,
  next: (node: number) => readonly number[],
): ReadonlySet<number> {
  const found = new Set<number>()
  const open = [...next(start)]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (found.has(node)) continue
    found.add(node)
    open.push(...next(node))
  }
  return found
}

test('random rows, with circles and orphans, are as a walk along them finds', async () => {
  const random = seededRandom(7)
  const below = (limit: number) => Math.floor(random() * limit)
  const size = 60
  for (let round = 0; round < 6; round++) {
    const above = Array.from({ length: size }, (_, id) =>
      below(6) === 0 ? null : below(round < 3 ? Math.max(1, id) : size + 5),
    )
    const values = above.map(
      (parent, id) =>
        sql`(${sql.value(String(id))}::INTEGER, ${parent === null ? sql`NULL` : sql.value(String(parent))}::INTEGER)`,
    )
    await using tables = await InMemoryTables.open([
      {
        model: 'hr.random',
        key: ['id'],
        hierarchies,
        rows: sql`SELECT * FROM (VALUES ${sql.join(values)}) AS v(id, manager_id)`,
      },
    ])
    const of = '$root/hr_random,org,id'
    const ids = (apply: string) => tables.first(encodedTarget(`hr_random?$apply=${apply}`))
    const parents = (id: number) => {
      const parent = above[id] ?? null
      return parent === null || parent >= size ? [] : [parent]
    }
    const children = (id: number) =>
      above.flatMap((parent, child) => (parent === id ? [child] : []))
    const sorted = (found: Iterable<number>) => [...found].toSorted((a, b) => a - b).join(' ')
    const walked: number[] = []
    const walk = (id: number) => {
      walked.push(id)
      for (const child of children(id)) walk(child)
    }
    const roots = above.flatMap((_, id) => (parents(id).length === 0 ? [id] : []))
    for (const id of roots.filter((id) => above[id] === null || above[id]! >= size)) walk(id)
    assert.is(await ids(`traverse(${of},preorder)`), walked.join(' '))
    const sums = walked
      .toSorted((a, b) => a - b)
      .map((id) => `${id}:${[id, ...reachedFrom(id, children)].reduce((a, b) => a + b)}`)
    const apply = `groupby((rolluprecursive(${of})),aggregate(id with sum as s))`
    assert.is(await printed(tables, `hr_random?$apply=${apply}&$select=id,s`), sums.join(' '))
    for (const id of [0, 7, 23, 59]) {
      assert.is(
        await ids(`descendants(${of},filter(id eq ${id}))`),
        sorted(reachedFrom(id, children)),
      )
      assert.is(await ids(`ancestors(${of},filter(id eq ${id}))`), sorted(reachedFrom(id, parents)))
    }
  }
})

test.run()
