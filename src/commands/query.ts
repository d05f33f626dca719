import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { createReadStream } from 'node:fs'
import { text } from 'node:stream/consumers'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { textFormats, textOfRows } from '../cli/row-text.ts'
import { showTable } from '../cli/table.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { RowText } from '../core/report/row-text.ts'
import { problemOfSystem } from '../files/system-errors.ts'
import type { Project } from '../project/project.ts'
import type { Query as QueryText } from '../report/answer-query.ts'

const ROWS_ON_A_TERMINAL = 1_000

export default class Query extends BaseCommand {
  static override summary = 'Show a table, or run one SELECT on the warehouse; changes nothing'
  static override examples = [
    `<%= config.bin %> query mart.sales`,
    `<%= config.bin %> query 'FROM mart.sales WHERE revenue > 1000'`,
    `<%= config.bin %> query 'SELECT * FROM core.orders' --format csv --limit 100000`,
    `<%= config.bin %> query --at 2026-11-01 'FROM mart.sales'`,
  ]
  static override args = {
    sql: Args.string({ description: 'A table or one SELECT; - reads it from stdin' }),
  }
  static override flags = {
    at: Flags.string({
      summary: 'Read what was published then: a date, a date with time, or the id of a run',
      helpValue: 'WHEN',
    }),
    format: Flags.option({
      options: ['table', ...textFormats] as const,
      default: 'table' as const,
    })({
      summary: 'How rows are printed; --json is ndjson',
    }),
    file: Flags.string({ summary: 'Read the SELECT from this file', helpValue: 'FILE' }),
    limit: Flags.integer({
      summary: `Rows to show; ${ROWS_ON_A_TERMINAL} by default on a terminal, elsewhere all`,
      min: 1,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Query)
    const project = await this.openProject(flags)
    const query = await textOf(args.sql, flags.file)
    // What is piped into a file must be whole.
    const limit = flags.limit ?? (process.stdout.isTTY ? ROWS_ON_A_TERMINAL : null)
    const asked = { text: query, limit: limit === null ? null : limit + 1 }
    const { columns, rows } = await this.#answer(project, asked, flags)
    const shown = limit === null ? rows : rows.slice(0, limit)
    const format = flags.json ? 'ndjson' : flags.format
    const names = columns.map(({ name }) => name)
    if (format === 'table') this.print(showTable(names, shown))
    else writeText(textOfRows[format](columns), shown)
    if (limit !== null && rows.length > limit && !flags.quiet)
      process.stderr.write(`the first ${limit} rows; --limit N shows more\n`)
  }

  async #answer(project: Project, query: QueryText, { at, quiet }: FlagsOf<typeof Query>) {
    if (at === undefined) {
      const { answerQuery } = await import('../report/answer-query.ts')
      return await answerQuery(project, query)
    }
    const { answerPast } = await import('../report/answer-past.ts')
    return await answerPast(project, query, { at, isQuiet: Boolean(quiet) })
  }
}

function writeText({ begin, row, end }: RowText, rows: readonly object[]): void {
  process.stdout.write(begin + rows.map(row).join('') + end(rows.length))
}

async function textOf(sql: string | undefined, file: string | undefined): Promise<string> {
  if ((sql === undefined) === (file === undefined))
    throw new UsageError('eider query needs one SELECT, as an argument or from --file', {
      hint: `such as eider query 'FROM core.orders'`,
    })
  if (file === undefined) return sql === '-' ? await text(process.stdin) : sql!
  try {
    return await textOfQuery(file)
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw new UsageError(`--file cannot be read: ${problemOfSystem(error)}`)
  }
}

/** It may be a pipe, as of another program, and a device that never ends. */
async function textOfQuery(file: string): Promise<string> {
  const parts: Buffer[] = []
  let bytes = 0
  for await (const part of createReadStream(file) as AsyncIterable<Buffer>) {
    parts.push(part)
    bytes += part.length
    if (bytes > limits.modelFileBytes)
      throw new UsageError(`${file} is larger than ${limits.modelFileBytes / 1024 / 1024} MiB`, {
        hint: 'a query is one SELECT; data goes into a file that it reads',
      })
  }
  return Buffer.concat(parts).toString('utf8')
}
