import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
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
    const project = await this.openProject(flags)
    const { answerQuery } = await import('./answer-query.ts')
    const query = { text: args.sql, limit: flags.limit + 1 }
    const { columns, rows } = await answerQuery(project, query)
    const shown = rows.slice(0, flags.limit)
    const text = showRows(columns, shown, flags.json ? 'ndjson' : flags.format)
    if (text !== '') this.print(text)
    if (rows.length > flags.limit && !flags.quiet)
      process.stderr.write(`the first ${flags.limit} rows; --limit N shows more\n`)
  }
}
