import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { DiagnosticsError } from '../core/diagnostics.ts'
import { rowFormats, showRows } from '../cli/show-rows.ts'

const DEFAULT_ROWS = 1_000

export default class Query extends BaseCommand {
  static override summary = 'Run one SELECT on the warehouse; changes nothing'
  static override examples = [
    `<%= config.bin %> query 'FROM mart.sales'`,
    `<%= config.bin %> query 'SELECT * FROM core.orders' --format csv --limit 100000`,
  ]
  static override args = { sql: Args.string({ description: 'One SELECT', required: true }) }
  static override flags = {
    format: Flags.option({ options: rowFormats, default: 'table' as const })({
      summary: 'How rows are printed; --json is ndjson',
    }),
    limit: Flags.integer({ summary: 'Rows to show', min: 1, default: DEFAULT_ROWS }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Query)
    const { paths, settings, files } = await this.openProject(flags)
    const { parseQuery } = await import('../compiler/sql/query-text.ts')
    const { sql } = await import('../core/sql.ts')
    const { describe } = await import('../duckdb/catalog.ts')
    const { openWarehouseToRead } = await import('../pipeline/store/open-warehouse.ts')
    const { openStore } = await import('../store/open-store.ts')
    const { dir } = paths
    const { sources = [] } = files
    const engine = { memoryLimit: settings.memory_limit }
    const { warehouse: place } = openStore(paths)
    await using warehouse = await openWarehouseToRead(place, engine, {
      dir,
      sources,
    })
    await using connection = await warehouse.connect()
    const body = await parseQuery(connection, args.sql).catch(async (error: unknown) => {
      const isUnbuilt = error instanceof DiagnosticsError && !(await place.exists())
      throw isUnbuilt ? withFirstRun(error) : error
    })
    const query = sql`SELECT * FROM (${sql.body(body)}\n) LIMIT ${sql.value(flags.limit + 1)}`
    const columns = (await describe(connection, query)).map(({ name }) => name)
    const rows = await connection.rows(query)
    const shown = rows.slice(0, flags.limit)
    const text = showRows(columns, shown, flags.json ? 'ndjson' : flags.format)
    if (text !== '') this.print(text)
    if (rows.length > flags.limit && !flags.quiet)
      process.stderr.write(`the first ${flags.limit} rows; --limit N shows more\n`)
  }
}

/** For a project without any run: whatever the query names does not exist yet. */
function withFirstRun({ diagnostics }: DiagnosticsError): DiagnosticsError {
  const hint = 'nothing is built yet: "eider run" builds the models'
  return new DiagnosticsError(diagnostics.map((one) => ({ ...one, hint })))
}
