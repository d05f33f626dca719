// The file .env: variables of the project, in addition to those of the environment.

import { join } from 'node:path'
import { parseEnv } from 'node:util'
import { type Diagnostic, diagnostic, DiagnosticsError } from '../core/diagnostics.ts'
import type { SourceFile } from '../core/source-text.ts'
import { limits } from '../core/limits.ts'
import { readFileNow } from '../files/read-file.ts'
import { nearest } from '../core/suggest.ts'
import type { Environment } from './environment-values.ts'
import { notText, unreadable } from './read-text.ts'
import { settings } from './settings.ts'
import { environmentName, VARIABLE_PREFIX } from './variables.ts'

const DOT_ENV = '.env'

const knownNames: readonly string[] = [
  ...Object.values(settings).flatMap((setting) => ('env' in setting ? [setting.env] : [])),
  'EIDER_TARGET',
]

/** Edits up to which a name is taken for a known one; the author's own names may be a little similar. */
const MISSPELT_EDITS = 2

/**
 * The values, none when there is no file, and warnings of names that look like known ones. `variables`: names of `vars`. Throws DiagnosticsError when the file cannot be read, and for each line that is not an
 * assignment.
 */
export async function readDotEnv(
  dir: string,
  variables: readonly string[] = [],
): Promise<{ readonly values: Environment; readonly warnings: readonly Diagnostic[] }> {
  let bytes
  try {
    bytes = readFileNow(join(dir, DOT_ENV), limits.configFileBytes)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { values: {}, warnings: [] }
    throw new DiagnosticsError([unreadable(DOT_ENV, error)])
  }
  const problem = notText(DOT_ENV, bytes)
  if (problem !== null)
    throw new DiagnosticsError([{ ...problem, ...placeOf(problem.source, problem.span.start) }])
  const text = bytes.toString('utf8').replace(/^\ufeff/, '')
  const source = { path: DOT_ENV, text }
  const lines = linesOf(text)
  const errors = lines.filter(({ name }) => name === null).map((line) => refuse(source, line))
  if (errors.length > 0) throw new DiagnosticsError(errors)
  const known = [...knownNames, ...variables.map(environmentName)]
  return { values: parseEnv(text), warnings: lines.flatMap((line) => suspect(source, line, known)) }
}

interface Line {
  readonly start: number
  readonly text: string
  /** The name of the variable; null where the line is not an assignment. */
  readonly name: string | null
}

const ASSIGNMENT = /^[^\S\n]*(?:export )?[^\S\n]*([^\s=#'"`]+)[^\S\n]*=[^\S\n]*(["'`])?/

/** Without blank lines, comments and what is inside of a quoted value. An unclosed quote is an ordinary character. */
function linesOf(text: string): readonly Line[] {
  const lines: Line[] = []
  for (let start = 0, end; start < text.length; start = end + 1) {
    end = endOfLine(text, start)
    const line = text.slice(start, end)
    if (/^\s*(?:#|$)/.test(line)) continue
    const [before = '', name = null, quote = ''] = ASSIGNMENT.exec(line) ?? []
    lines.push({ start, text: line, name })
    const closing = quote === '' ? -1 : text.indexOf(quote, start + before.length)
    if (closing >= 0) end = endOfLine(text, closing)
  }
  return lines
}

function endOfLine(text: string, from: number): number {
  const newline = text.indexOf('\n', from)
  return newline < 0 ? text.length : newline
}

function refuse(source: SourceFile, { start, text }: Line): Diagnostic {
  const word = /^\s*(?:export\s+)?([^\s=:]+)/.exec(text)?.[1] ?? ''
  const hint = knownNames.includes(word)
    ? `write ${word}=value`
    : 'write NAME=value, begin a comment with #, and put quotes around a value of several lines'
  return diagnostic('dotenv-syntax', {}, placeOf(source, start), hint)
}

/** Of the environment, which may hold variables of other projects as well. */
export const suspectVariables = (
  env: Environment,
  variables: readonly string[],
  source: SourceFile,
): readonly Diagnostic[] =>
  Object.keys(env)
    .filter((name) => name.startsWith(VARIABLE_PREFIX))
    .flatMap((name) => suspect(source, { start: 0, name }, variables.map(environmentName)))

function suspect(
  source: SourceFile,
  { start, name }: Pick<Line, 'start' | 'name'>,
  known: readonly string[],
): readonly Diagnostic[] {
  if (name === null || known.includes(name)) return []
  const meant = nearest(name, known, MISSPELT_EDITS)
  if (meant === null) return []
  const hint = `did you mean ${meant}?`
  return [diagnostic('dotenv-unknown-name', { name }, placeOf(source, start), hint)]
}

// An empty span: the line is not shown, for it may hold a token.
const placeOf = (source: SourceFile, start: number) => ({ source, span: { start, end: start } })
