// Why a source cannot be read, with what to do next.

import { type Diagnostic, diagnostic } from '../../core/diagnostics.ts'
import { statSync } from 'node:fs'
import { relative, resolve } from 'node:path'
import { type ExternalSource, isRemote } from '../../core/sources.ts'
import { hide } from '../../core/hidden.ts'
import type { Span } from '../../core/source-text.ts'
import { isPipeOrDevice } from '../../files/read-file.ts'
import { sameName } from '../../core/names.ts'
import { didYouMean } from '../../core/suggest.ts'
import { DatabaseError, type DatabaseErrorDetails } from '../../duckdb/errors.ts'
import { ExtensionError } from '../../duckdb/extension-files.ts'
import { mixedLineEnds } from '../csv/line-ends.ts'
import { startOf } from '../csv/start-of-file.ts'
import { utf16Of } from '../csv/utf-16.ts'
import { problemOf, type Explanation } from '../hints/engine-words.ts'
import { withoutDir } from '../hints/engine-diagnostic.ts'

export class SourceProblem extends Error {
  readonly hint: string | undefined
  constructor({ problem, hint }: Explanation) {
    super(problem)
    this.hint = hint
  }
}

/** `shown`: the path as it is written. */
export function refusePipe(path: string, shown: string): void {
  if (!isPipeOrDevice(path)) return
  const problem = `${shown} is a pipe, a socket or a device`
  throw new SourceProblem({ problem, hint: 'name a file that can be read again' })
}

/** Paths may have values of the environment, which no message shows. */
export function withoutValues(found: Diagnostic, hidden: ExternalSource['hidden']): Diagnostic {
  const { message, hint } = found
  const shown = { ...found, message: hide(message, hidden) }
  return hint === undefined ? shown : { ...shown, hint: hide(hint, hidden) }
}

interface SourcePart {
  readonly name: string
  readonly span: Span
  /** The path as it is written. */
  readonly file?: string | null
}

/** `name`: that of the source, or of one of its tables. */
export function unusable(
  error: unknown,
  dir: string,
  { source, hidden, secret }: ExternalSource,
  { name, span, file = null }: SourcePart,
  opened: { readonly explain: (message: string) => Explanation | null },
): Diagnostic {
  const at = { source, span }
  const refused = ({ problem, hint }: Explanation) =>
    withoutValues(diagnostic('invalid-source', { name, problem }, at, hint), hidden)
  if (error instanceof SourceProblem) return refused({ problem: error.message, hint: error.hint })
  if (error instanceof ExtensionError) return extensionProblem(error, name, at)
  if (!(error instanceof DatabaseError)) throw error
  const details = withoutDir(error.details, dir)
  const known =
    parquetProblem(details, dir) ??
    opened.explain(details.message) ??
    tableProblem(details, name) ??
    csvProblem(details, file, dir) ??
    mixedLineEnds(details.message, dir) ??
    linkProblem(details, file, dir) ??
    fileProblem(details, secret?.name, file)
  if (known !== null) return refused(known)
  const problem = problemOf(details).replaceAll(/"?_eider_source_\w+"?\./g, '')
  return refused({ problem, hint: hintOf(details.message) })
}

function extensionProblem(
  { extension, code, message }: ExtensionError,
  name: string,
  at: Parameters<typeof diagnostic>[2],
): Diagnostic {
  const hint = `eider extension install ${extension}`
  return code === 'extension-missing'
    ? diagnostic(code, { name, extension }, at, hint)
    : diagnostic('invalid-source', { name, problem: message }, at, hint)
}

function tableProblem(details: DatabaseErrorDetails, name: string): Explanation | null {
  const { message, candidates } = details
  if (/can only read versions? between/.test(message))
    return {
      problem: 'a newer DuckDB wrote it',
      hint: "write it there with ATTACH … (STORAGE_VERSION 'v1.5.0')",
    }
  const schema = /because schema "([^"]+)" does not exist/.exec(message)?.[1]
  if (schema !== undefined)
    return {
      problem: `its database has no schema "${schema}"`,
      hint: 'check "schema" of the source',
    }
  if (!message.startsWith('Table with name')) return null
  const table = name.slice(name.indexOf('.') + 1)
  const meant = candidates.map((candidate) => candidate.split('.').at(-1)!)
  const elsewhere = candidates
    .find((_, i) => sameName(meant[i]!, table))
    ?.split('.')
    .at(-2)
  if (elsewhere !== undefined)
    return {
      problem: `its database has no table "${table}" in the schema that is read`,
      hint: otherSchema(elsewhere),
    }
  return {
    problem: `its database has no table "${table}"`,
    hint: didYouMean(table, meant) ?? 'check the name, and "schema" of the source',
  }
}

/** What is to be done about a table that is in another schema of its database. */
export const otherSchema = (schema: string): string =>
  `there is one in the schema ${schema}: write "schema: ${schema}" at the source`

/** The end of a Parquet file tells where its columns are, and is written last. */
export function parquetProblem({ message }: DatabaseErrorDetails, dir: string): Explanation | null {
  const [, found] =
    /No magic bytes found at end of file '([^']+)'/.exec(message) ??
    /Footer length error in file '([^']+)'/.exec(message) ??
    /File '([^']+)' too small to be a Parquet file/.exec(message) ??
    []
  if (found === undefined) return null
  const path = resolve(dir, found)
  const file = relative(dir, path)
  const start = startOf(path, MAGIC.length).toString('latin1')
  if (isRemote(found)) return null
  return MAGIC.startsWith(start) ? incomplete(file) : otherThanParquet(file)
}

const MAGIC = 'PAR1'

const otherThanParquet = (file: string): Explanation => ({
  problem: `${file} is not a Parquet file`,
  hint: 'get or write the file again: a download may have stored the answer of an error',
})

const incomplete = (file: string): Explanation => ({
  problem: `${file} is incomplete: it is still being written, or was cut off`,
  hint: 'run again when it is whole; let its writer give it another name, such as with .tmp at the end, and rename it when it is',
})

function csvProblem(
  { message }: DatabaseErrorDetails,
  file: string | null,
  dir: string,
): Explanation | null {
  if (/not utf-8 encoded/i.test(message)) {
    const path = /file = (.*)/.exec(message)?.[1] ?? file
    return notUtf8(path, dir)
  }
  const [, first, other, column] =
    /^Schema mismatch between globbed files[^]*Main file schema: (.*)\nCurrent file: (.*)\nColumn with name: "(.*)" is missing/.exec(
      message,
    ) ?? []
  return first === undefined ? null : otherColumns(first, other!, { missing: column })
}

/** `path`: as it is shown, relative to `dir`. */
export function notUtf8(path: string | null, dir: string): Explanation {
  const order = path === null ? null : utf16Of(resolve(dir, path))
  if (order === 'big-endian') return bigEndian(path!)
  if (order !== null)
    return {
      problem: `${path} is UTF-16`,
      hint: 'write "csv: {encoding: utf-16}" at the table, or save the file as UTF-8',
    }
  return {
    problem: `${path ?? 'the file'} is not UTF-8`,
    hint: 'say how it is written, such as "csv: {encoding: latin-1}" or utf-16, or save it as UTF-8',
  }
}

const bigEndian = (file: string): Explanation => ({
  problem: `${file} is big-endian UTF-16, which cannot be read`,
  hint: 'save it as UTF-8',
})

/** `path`: of `file`, which is declared as UTF-16. */
export function refuseOtherEncoding(path: string, file: string): void {
  const order = utf16Of(path)
  if (order === 'big-endian') throw new SourceProblem(bigEndian(file))
  if (order === null)
    throw new SourceProblem({
      problem: `${file} is not UTF-16`,
      hint: 'leave "encoding" out, or say how the file is written',
    })
}

/** The engine finds no file below a link that leads to itself, and does not say why. */
function linkProblem(
  { message }: DatabaseErrorDetails,
  file: string | null,
  dir: string,
): Explanation | null {
  if (file === null || !message.includes('No files found')) return null
  const parts = file.split('/')
  for (let i = 1; i <= parts.length; i++) {
    const path = parts.slice(0, i).join('/')
    if (isEndless(resolve(dir, path)))
      return { problem: `${path} is a symbolic link to itself`, hint: 'remove the link' }
  }
  return null
}

function isEndless(path: string): boolean {
  try {
    statSync(path)
    return false
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ELOOP'
  }
}

export const emptyFile = (file: string): Explanation => ({
  problem: `${file} is empty`,
  hint: 'begin it with a header: a header alone is a table without rows',
})

/** A file of a pattern has other columns than the first one. */
export function otherColumns(
  first: string,
  file: string,
  {
    added,
    missing,
  }: { readonly added?: string | undefined; readonly missing?: string | undefined },
  format: 'csv' | 'parquet' = 'csv',
): Explanation {
  const problem =
    added === undefined
      ? `${file} has no column "${missing}", which ${first} has`
      : `${file} has a column "${added}", which ${first} does not have`
  const hint = `give all files the same columns, or write "${format}: {union_by_name: true}": a column that a file lacks is then NULL`
  return { problem, hint }
}

/** A file of a pattern has the columns of the first one in another order, by which one of them has another type. */
export const otherOrder = (
  first: string,
  file: string,
  { name, type, meant }: { readonly name: string; readonly type: string; readonly meant: string },
): Explanation => ({
  problem: `${file} has its columns in another order than ${first}, so "${name}" would be ${type} instead of ${meant}`,
  hint: 'give all files the same order, or write "csv: {union_by_name: true}", which finds the types of columns by their names',
})

/** A file of a pattern begins with a row, and the first one with a header. */
export function noHeader(
  first: string,
  file: string,
  row: readonly string[],
  names: readonly string[],
): Explanation {
  const list = (fields: readonly string[]) => fields.slice(0, 10).join(', ')
  return {
    problem: `${file} has no header: it begins with the row ${list(row)}`,
    hint: `begin it with the header of ${first}: ${list(names)}`,
  }
}

/** For a file that is not on this machine. */
function fileProblem(
  { message }: DatabaseErrorDetails,
  secret: string | undefined,
  file: string | null,
): Explanation | null {
  const status = /\(HTTP (\d+)[^)]*\)/.exec(message)?.[1]
  const url = /'((?:s3|https?):\/\/[^']+)'/.exec(message)?.[1]
  const what = urlWithoutQuery(url ?? file ?? 'the store')
  const ofSecret =
    secret === undefined
      ? 'declare a secret with its key under secrets, and name it as "secret" of the source'
      : `check the key of the secret "${secret}", and what it may read`
  if (/NoSuchBucket/.test(message))
    return {
      problem: `there is no bucket at ${what}`,
      hint: 'check the name of the bucket, and "endpoint" of the secret',
    }
  if (status === '404') return { problem: `there is no file ${what}`, hint: 'check the URL' }
  if (status === '401' || status === '403')
    return { problem: `${what} is refused (HTTP ${status})`, hint: ofSecret }
  if (/PermanentRedirect|AuthorizationHeaderMalformed/.test(message))
    return { problem: `${what} is in another region`, hint: 'set "region" of the secret' }
  if (/Timeout was reached/.test(message))
    return {
      problem: `${what} does not answer`,
      hint: 'check the URL, and whether the server runs',
    }
  if (/Could not resolve hostname/.test(message))
    return {
      problem: `the host of ${what} is unknown`,
      hint: 'check the URL, and "endpoint" of the secret',
    }
  if (/Could not connect to server/.test(message))
    return {
      problem: `nothing listens at ${what}`,
      hint: 'check the URL, and whether the server runs',
    }
  if (/partial file|Connection reset|Server returned nothing/i.test(message))
    return { problem: `${what} was cut off while it was read`, hint: 'run again' }
  if (/SSL|certificate/i.test(message) && url !== undefined)
    return {
      problem: `the TLS certificate of ${what} is not valid`,
      hint: 'give the server a certificate that this machine trusts',
    }
  if (/version guessing|version-hint/.test(message))
    return {
      problem: 'the table does not say which of its versions is the current one',
      hint: 'name the current .metadata.json file instead of the directory, or let the writer keep metadata/version-hint.text',
    }
  if (/No such sheet|Sheet .* not found/i.test(message))
    return { problem: message.split('\n')[0]!, hint: 'check "sheet"' }
  return null
}

/** What follows a question mark may be a signature. */
export const urlWithoutQuery = (url: string) => url.replace(/[?#].*$/s, '')

function hintOf(message: string): string | undefined {
  if (/Could not set lock/.test(message))
    return 'another process is writing to it; run again when it has finished'
  return /does not exist|No files found|No such file/.test(message)
    ? 'paths are relative to the directory of eider.yml'
    : 'check the settings of the source in eider.yml'
}
