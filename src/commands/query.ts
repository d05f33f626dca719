import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { createReadStream } from 'node:fs'
import { extname, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { textFormats, textOfRows } from '../cli/row-formats.ts'
import { onStop } from '../cli/signals.ts'
import { showTable } from '../cli/table.ts'
import { count } from '../core/counts.ts'
import { UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import type { RowText } from '../core/report/row-text.ts'
import { CannotReplace, replaceFile } from '../files/replaced-file.ts'
import { problemOfSystem } from '../files/system-errors.ts'
import type { Project } from '../project/project.ts'
import type { AskedQuery as QueryText, TakeRows } from '../report/answer-query.ts'

/** What a terminal does not show. */
const fileFormats = ['parquet', 'xlsx'] as const

const formats = ['table', ...textFormats, ...fileFormats] as const
type Format = (typeof formats)[number]
type FileFormat = (typeof fileFormats)[number]

const formatOfEnding: Readonly<Record<string, Format>> = {
  '.csv': 'csv',
  '.json': 'json',
  '.jsonl': 'ndjson',
  '.md': 'markdown',
  '.ndjson': 'ndjson',
  '.parquet': 'parquet',
  '.xlsx': 'xlsx',
}

interface Output {
  readonly name: string
  readonly path: string
  readonly format: Exclude<Format, 'table'>
}

const ROWS_ON_A_TERMINAL = 1_000

export default class AskedQuery extends BaseCommand {
  static override summary = 'Show a table, or run one SELECT on the warehouse; changes nothing'
  static override examples = [
    `<%= config.bin %> query mart.sales`,
    `<%= config.bin %> query 'FROM mart.sales WHERE revenue > 1000'`,
    `<%= config.bin %> query 'SELECT * FROM core.orders' --format csv --limit 100000`,
    `<%= config.bin %> query mart.sales --output sales.parquet`,
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
    format: Flags.option({ options: formats })({
      summary: 'table by default, with --output as FILE ends; --json is ndjson',
    }),
    file: Flags.string({ summary: 'Read the SELECT from this file', helpValue: 'FILE' }),
    output: Flags.string({
      char: 'o',
      summary: 'Write the rows to this file: .csv, .json, .ndjson, .md, .parquet or .xlsx',
      helpValue: 'FILE',
    }),
    limit: Flags.integer({
      summary: `Rows to show; ${ROWS_ON_A_TERMINAL} by default on a terminal, elsewhere all`,
      min: 1,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(AskedQuery)
    // Before the working directory changes.
    const output = flags.output === undefined ? null : outputOf(flags.output, flags.format)
    const format = flags.json || output !== null ? 'ndjson' : printed(flags.format ?? 'table')
    const project = await this.openProject(flags)
    const query = await textOf(args.sql, flags.file)
    if (output !== null) return await this.#write(project, query, output, flags)
    await this.#print(project, query, format, flags)
  }

  async #print(
    project: Project,
    text: string,
    format: Exclude<Format, FileFormat>,
    flags: FlagsOf<typeof AskedQuery>,
  ): Promise<void> {
    // What is piped into a file must be whole.
    const limit = flags.limit ?? (process.stdout.isTTY ? ROWS_ON_A_TERMINAL : null)
    const asked = { text, limit: limit === null ? null : limit + 1 }
    const { columns, rows } = await this.#answer(project, asked, flags, readAll)
    const shown = limit === null ? rows : rows.slice(0, limit)
    const names = columns.map(({ name }) => name)
    if (format === 'table') this.print(showTable(names, shown))
    else printText(textOfRows[format](columns), shown)
    if (limit !== null && rows.length > limit && !flags.quiet)
      process.stderr.write(`the first ${limit} rows; --limit N shows more\n`)
  }

  async #write(
    project: Project,
    text: string,
    { name, path, format }: Output,
    flags: FlagsOf<typeof AskedQuery>,
  ): Promise<void> {
    const { writeParquet, writeText, writeXlsx } = await import('../report/write-rows.ts')
    const { interruptOnAbort } = await import('../pipeline/interrupt.ts')
    using stop = onStop()
    try {
      const rows = await replaceFile(path, (beside) => {
        const write = isFileFormat(format)
          ? { parquet: writeParquet, xlsx: writeXlsx }[format](beside)
          : writeText(beside, textOfRows[format])
        return this.#answer(
          project,
          { text, limit: flags.limit ?? null },
          flags,
          async (connection, ...rest) => {
            using _interrupts = interruptOnAbort([connection], stop.signal)
            return await write(connection, ...rest)
          },
        )
      })
      if (flags.json) this.printEvent({ event: 'rows-written', path, format, rows })
      else if (!flags.quiet) this.print(`wrote ${name}: ${count(rows, 'row')}`)
    } catch (error) {
      if (error instanceof CannotReplace)
        throw new UsageError(`--output cannot be written: ${error.message}`)
      const exitCode = stop.exitCode()
      if (exitCode === null) throw error
      process.stderr.write(`stopped; nothing is written to ${name}\n`)
      this.exit(exitCode)
    }
  }

  async #answer<T>(
    project: Project,
    query: QueryText,
    { at, quiet }: FlagsOf<typeof AskedQuery>,
    take: TakeRows<T>,
  ): Promise<T> {
    if (at === undefined) {
      const { answerQuery } = await import('../report/answer-query.ts')
      return await answerQuery(project, query, take)
    }
    const { answerPast } = await import('../report/answer-past.ts')
    return await answerPast(project, query, { at, isQuiet: Boolean(quiet) }, take)
  }
}

const readAll = (async (connection, rows, columns) => ({
  columns,
  rows: await connection.rows(rows),
})) satisfies TakeRows<unknown>

function printed(format: Format): Exclude<Format, FileFormat> {
  if (!isFileFormat(format)) return format
  throw new UsageError(`${format} is written to a file`, {
    hint: `name it: --output rows.${format}`,
  })
}

const isFileFormat = (format: Format): format is FileFormat =>
  fileFormats.some((name) => name === format)

function outputOf(name: string, given: Format | undefined): Output {
  const format = given ?? formatOfEnding[extname(name).toLowerCase()]
  const endings = Object.keys(formatOfEnding).join(', ')
  if (format === undefined)
    throw new UsageError(`the end of "${name}" does not say which format the file has`, {
      hint: `these do: ${endings}; or say it with --format`,
    })
  if (format === 'table')
    throw new UsageError('a table is printed, not written to a file', {
      hint: `leave --format out and name a file that ends in one of these: ${endings}`,
    })
  return { name, path: resolve(name), format }
}

function printText({ begin, row, end }: RowText, rows: readonly object[]): void {
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
