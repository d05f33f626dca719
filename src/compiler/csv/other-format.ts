// Files that are named as a CSV and are something else, of which DuckDB makes columns and rows all the same: told by their first
// bytes.

import { partsOfZip } from '../../files/unzip.ts'
import type { Explanation } from '../hints/engine-words.ts'
import { startOf } from './start-of-file.ts'

/** Enough for a line of an answer of an API. */
const START_BYTES = 65_536

interface Named {
  /** As it is shown. */
  readonly file: string
  /** A seed is neither packed nor a workbook. */
  readonly isSeed: boolean
  /** Its lines may be texts of any kind. */
  readonly isLines?: boolean
}

/** `path`: of a file of this machine; null: nothing shows that it is no CSV. */
export async function otherFormat(path: string, named: Named): Promise<Explanation | null> {
  const start = startOf(path, START_BYTES)
  const binary = await binaryFormat(start, path, named)
  return binary ?? (named.isLines ? null : textFormat(start, named))
}

async function binaryFormat(
  start: Buffer,
  path: string,
  { file, isSeed }: Named,
): Promise<Explanation | null> {
  const is = (hex: string) => start.toString('hex', 0, hex.length / 2) === hex
  const packed = (what: string, end: string) => ({
    problem: `${file} is ${what}`,
    hint: isSeed ? 'unpack it' : `name it ${file}${end}, and so in eider.yml`,
  })
  if (is('1f8b')) return packed('gzip', '.gz')
  if (is('28b52ffd')) return packed('Zstandard', '.zst')
  if (is('d0cf11e0'))
    return {
      problem: `${file} is an old Excel workbook (.xls)`,
      hint: isSeed ? 'save the sheet as CSV' : 'save it as .xlsx or as CSV',
    }
  if (!is('504b0304')) return null
  if (!(await isWorkbook(path, start)))
    return { problem: `${file} is a ZIP archive`, hint: 'unpack it' }
  return {
    problem: `${file} is an Excel workbook`,
    hint: isSeed
      ? 'save the sheet as CSV'
      : `name it ${withEnd(file, 'xlsx')}, and so in eider.yml`,
  }
}

/** One of the first parts says as a rule that the archive is a document, and its directory which. */
async function isWorkbook(path: string, start: Buffer): Promise<boolean> {
  if (start.includes('xl/')) return true
  if (!start.includes('[Content_Types].xml')) return false
  const names = (await partsOfZip(path))?.keys() ?? []
  return [...names].some((name) => name.startsWith('xl/'))
}

const withEnd = (file: string, end: string) => file.replace(/\.\w+$/, `.${end}`)

function textFormat(start: Buffer, { file, isSeed }: Named): Explanation | null {
  const text = start
    .toString('utf8')
    .replace(/^\ufeff/, '')
    .trimStart()
  if (/^<(?:!doctype html|html|head|body)\b/i.test(text))
    return {
      problem: `${file} is HTML`,
      hint: 'it may be a login page: get the file again, signed in',
    }
  if (/^<\?xml\s/i.test(text))
    return { problem: `${file} is XML`, hint: 'get or save the data as CSV' }
  if (!isJson(text, start.length < START_BYTES)) return null
  const named = isSeed ? 'name it .json' : `name it ${withEnd(file, 'json')}, and so in eider.yml`
  return {
    problem: `${file} is JSON`,
    hint: `it may be the error of a service: get the file again; if it has the rows, ${named}`,
  }
}

/** A value of a CSV may be JSON: there is none where more follows in its line. */
function isJson(text: string, isWhole: boolean): boolean {
  if (!/^(?:\{\s*["}]|\[\s*[{[\]])/.test(text)) return false
  if (isWhole && isParsed(text)) return true
  const [line = '', ...more] = text.split(/\r?\n/)
  return /^[{[]\s*$/.test(line) || (more.length === 0 && !isWhole) || isParsed(line)
}

function isParsed(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
