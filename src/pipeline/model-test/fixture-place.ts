// Where in a fixture the value is that DuckDB cannot read: file, line and column.

import { join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import type { DatabaseError } from '../../duckdb/errors.ts'
import { problemIn } from '../failure.ts'
import { textLines } from './ndjson-lines.ts'

/** One line with the place, as far as it is known. */
export async function placeInFixture(
  error: DatabaseError,
  dir: string,
  path: string,
): Promise<string> {
  const { message } = error.details
  const [, csvLine, name] =
    /^CSV Error on Line: (\d+)\n[^]*?Error when converting column "((?:[^"]|"")*)"/.exec(message) ??
    []
  const [, problem = ''] = /^line \d+: (.*)$/s.exec(problemIn(error)) ?? []
  if (csvLine !== undefined && name !== undefined)
    return await placeInCsv(dir, path, Number(csvLine), name, problem)
  const [, jsonLine, misfit = ''] =
    /^JSON transform error in file "[^]*?", in line (\d+): ([^\n]*)/.exec(message) ?? []
  if (jsonLine !== undefined) return await placeInNdjson(dir, path, Number(jsonLine), misfit)
  const line = /^line (\d+): (.*)$/s.exec(problemIn(error))
  return line === null ? `${path}: ${problemIn(error)}` : `${path}:${line[1]}: ${line[2]}`
}

async function placeInCsv(
  dir: string,
  path: string,
  line: number,
  name: string,
  problem: string,
): Promise<string> {
  const lines = (await readTextLater(join(dir, path))).replace(/^\ufeff/, '').split(/\r\n|\r|\n/)
  const index = fieldsOf(lines[0] ?? '').findIndex(({ value }) => value === name)
  const field = fieldsOf(lines[line - 1] ?? '')[index]
  const at = field === undefined ? '' : `:${field.start + 1}`
  const isEmptyText = field?.text === '""'
  const what = isEmptyText
    ? 'only string columns can hold an empty string; leave the field empty for NULL'
    : problem.replace(
        /^Error when converting column ".*?"\. Could not convert string "(.*)" to '(\w+)'$/s,
        "'$1' does not fit $2",
      )
  return `${path}:${line}${at}: ${what}${what.includes(name) ? '' : ` (column ${name})`}`
}

interface Field {
  readonly start: number
  readonly text: string
  readonly value: string
}

/** The fields of a row without line ends in its values. */
function fieldsOf(line: string): readonly Field[] {
  const fields: Field[] = []
  const field = /( *"(?:[^"]|"")*" *|[^,]*)(?:,|$)/y
  while (field.lastIndex <= line.length) {
    const start = field.lastIndex
    const found = field.exec(line)
    if (found === null) break
    const text = found[1]!.trim()
    const value = text.startsWith('"') ? text.slice(1, -1).replaceAll('""', '"') : text
    fields.push({ start, text, value })
    if (!found[0].endsWith(',')) break
  }
  return fields
}

/** DuckDB counts lines that are not blank, and names the value, not the field. */
async function placeInNdjson(
  dir: string,
  path: string,
  number: number,
  problem: string,
): Promise<string> {
  const found = (await textLines(dir, path))[number - 1]
  if (found === undefined) return `${path}: ${problem}`
  const [, value = ''] = /(?:: |cast )("(?:[^"\\]|\\.)*"|'[^']*')/.exec(problem) ?? []
  const bare = value.slice(1, -1)
  const at = bare === '' ? -1 : found.text.search(new RegExp(`:\\s*"?${escaped(bare)}"?\\s*[,}]`))
  const start = at === -1 ? -1 : found.text.slice(at + 1).search(/\S/) + at + 2
  return `${path}:${found.line}${start < 1 ? '' : `:${start}`}: ${problem}`
}

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)
