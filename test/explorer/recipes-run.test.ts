// What the page offers to paste is pasted: into sh, into Node, and into Python where its modules are installed.

import { execFile, spawnSync } from 'node:child_process'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { readSchema } from '../../src/explorer/page/model/schema.ts'
import { recipesFor, type ToolId } from '../../src/explorer/page/recipes/recipes.ts'
import { readRowsState } from '../../src/explorer/page/rows/requests.ts'
import { explored, type Explored, shop } from '../support/explored.ts'
import { DUCKDB_OVER_HTTP, isWanted, runPython } from '../support/python.ts'
import { testsSharing } from '../support/shared.ts'

const run = promisify(execFile)
const QUERY =
  "$filter=status%20eq%20'it''s%20late'&$orderby=order_id%20desc&$select=order_id,big,total,placed_at"

interface Desk extends Explored {
  readonly desk: string
}

const recipeTest = testsSharing(async (): Promise<Desk> => {
  // Small pages, so that a recipe that reads only the first of them is found out.
  const service = await explored(shop, { pageSize: 40 })
  const desk = await mkdtemp(join(tmpdir(), 'eider-'))
  return {
    ...service,
    desk,
    async [Symbol.asyncDispose]() {
      await service[Symbol.asyncDispose]()
      await rm(desk, { recursive: true })
    },
  }
})

/** As a chart asks for it. */
const CHART =
  '$apply=filter(total%20gt%205)/groupby((status),aggregate(total%20with%20sum%20as%20value))&$top=5001'

async function codeFor(desk: Desk, tool: ToolId, name: string, query = QUERY): Promise<string> {
  const schema = readSchema(JSON.parse((await desk.get('$metadata?$format=json')).text))
  const set = schema.set('core_orders')!
  const state = readRowsState('core_orders', query)
  const recipes = recipesFor(`${desk.base}/`, set, state, schema.hasParquet)
  const code = recipes.find(({ id }) => id === tool)!.codes[name]
  if (code === undefined) throw new Error(`${tool} has no ${name}`)
  return code
}

recipeTest('curl in sh writes the whole file', async (desk) => {
  await run('sh', ['-c', await codeFor(desk, 'curl', 'sh')], { cwd: desk.desk })
  const lines = (await readFile(join(desk.desk, 'core_orders.csv'), 'utf8')).trim().split('\r\n')
  assert.is(lines.length, 151)
  assert.is(lines[1], '450,9007199254741442,494.40,2026-01-20T03:00:00Z')
})

recipeTest('JavaScript reads all pages with exact numbers', async (desk) => {
  const file = join(desk.desk, 'rows.mjs')
  const text = await codeFor(desk, 'javascript', 'all pages')
  await writeFile(
    file,
    `${text}\nconsole.log(JSON.stringify([rows.length, rows[0], rows.at(-1).order_id]))`,
  )
  const { stdout } = await run(process.execPath, [file])
  const first = {
    order_id: 450,
    big: '9007199254741442',
    total: '494.40',
    placed_at: '2026-01-20T03:00:00Z',
  }
  assert.equal(JSON.parse(stdout), [150, first, 3])
})

recipeTest('what a chart asks for goes into tools as it is', async (desk) => {
  await run('sh', ['-c', await codeFor(desk, 'curl', 'sh', CHART)], { cwd: desk.desk })
  const lines = (await readFile(join(desk.desk, 'core_orders.csv'), 'utf8')).trim().split('\r\n')
  const file = join(desk.desk, 'chart.mjs')
  const text = await codeFor(desk, 'javascript', 'all pages', CHART)
  await writeFile(
    file,
    `${text}\nfor (const row of rows) console.log(JSON.stringify(row.status) + ',' + row.value)`,
  )
  const { stdout } = await run(process.execPath, [file])
  assert.equal(lines.slice(1).toSorted(), stdout.trim().split('\n').toSorted())
  assert.equal(lines.length, 4)
})

const hasR = spawnSync('Rscript', ['--version']).status === 0
const testOfR = hasR ? recipeTest : (name: string, _run: unknown) => test.skip(name)
testOfR('R reads the CSV', async (desk: Desk) => {
  const script = `${await codeFor(desk, 'r', 'base')}\nstopifnot(nrow(df) == 150, df$order_id[1] == 450, df$total[1] == 494.4)`
  await run('Rscript', ['-e', script])
})

/** `check` looks at what the recipe has read. */
function pythonTest(
  name: string,
  tool: ToolId,
  code: string,
  modules: readonly string[],
  check: string,
) {
  if (!isWanted(modules)) return test.skip(name)
  recipeTest(name, async (desk) => {
    await runPython(`${await codeFor(desk, tool, code)}\n${check}`, [])
  })
}

for (const format of ['Parquet', 'CSV'])
  if (!isWanted(['duckdb'], `${DUCKDB_OVER_HTTP}\nopened()`)) test.skip(`DuckDB reads ${format}`)
  else
    recipeTest(`DuckDB reads ${format}`, async (desk) => {
      const script = `import duckdb, sys
${DUCKDB_OVER_HTTP}
c = opened()
rows = c.execute('SELECT order_id, big FROM (' + sys.argv[1].rstrip(';') + ')').fetchall()
assert len(rows) == 150 and rows[0] == (450, 9007199254741442), rows[0]`
      await runPython(script, [await codeFor(desk, 'duckdb', format)])
    })

pythonTest(
  'pandas reads the CSV with its types',
  'pandas',
  'CSV',
  ['pandas'],
  'assert len(df) == 150 and df["big"].iloc[0] == 9007199254741442 and df["placed_at"].dt.year.eq(2026).all()',
)
pythonTest(
  'pandas and requests read all pages',
  'pandas',
  'all pages of JSON',
  ['pandas', 'requests'],
  'assert len(df) == 150 and df["order_id"].iloc[-1] == 3',
)
pythonTest(
  'polars reads the CSV',
  'polars',
  'CSV',
  ['polars'],
  'assert df.height == 150 and df["big"][0] == 9007199254741442',
)

for (const [tool, modules] of [
  ['pandas', ['pandas', 'pyarrow']],
  ['polars', ['polars']],
] as const)
  pythonTest(
    `${tool} reads the Parquet`,
    tool,
    'Parquet',
    modules,
    'assert len(df) == 150 and df["big"][0] == 9007199254741442 and str(df["total"][0]) == "494.40"',
  )

test.run()
