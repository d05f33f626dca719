// A fixture of JSON objects, line by line: what DuckDB says of such a file has no names of fields and few places.

import { join } from 'node:path'
import { readTextLater } from '../../files/read-file.ts'
import { ModelFailure } from '../failure.ts'

interface NdjsonLine {
  /** From 1 on; blank lines count. */
  readonly line: number
  readonly text: string
  readonly names: readonly string[]
}

/** Those with an object. Throws ModelFailure with the line of one that is something else. */
export async function readLines(dir: string, path: string): Promise<readonly NdjsonLine[]> {
  return (await textLines(dir, path)).map(({ line, text }) => {
    const value = parsed(
      text,
      (problem) => new ModelFailure(`${path}:${line}: ${problem}`, 'placed'),
    )
    return { line, text, names: Object.keys(value) }
  })
}

/** Those that are not blank. */
export async function textLines(
  dir: string,
  path: string,
): Promise<readonly Omit<NdjsonLine, 'names'>[]> {
  const text = await readTextLater(join(dir, path))
  return text
    .split('\n')
    .map((each, i) => ({ line: i + 1, text: each.trim() }))
    .filter((each) => each.text !== '')
}

function parsed(text: string, failure: (problem: string) => Error): object {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw failure(`this is not JSON: ${(error as Error).message}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value
  throw failure('each line is a JSON object, such as {"id": 1}')
}
