// Which cells of a sheet of Excel are filled, read from the XML of the workbook: DuckDB says nothing of those that it leaves
// out, nor of formulas (ECMA-376, part 1, 18.3).

import { posix } from 'node:path'
import { MiB } from '../../core/byte-sizes.ts'
import { partsOfZip, readPart, type ZippedPart } from '../../files/unzip.ts'

export interface SheetCell {
  /** From 1. */
  readonly column: number
  readonly isFilled: boolean
  readonly isText: boolean
  /** A number with the format of a date. */
  readonly isDate: boolean
  /** A number whose format shows neither a date nor a time, as it is stored; null for all other cells. */
  readonly number: string | null
  /** A formula whose value nobody has stored. */
  readonly lacksValue: boolean
}

/** A row that has a filled cell, or a formula. */
export interface SheetRow {
  /** From 1. */
  readonly row: number
  readonly cells: readonly SheetCell[]
}

/** Columns and rows, from 1. */
export interface CellArea {
  readonly left: number
  readonly right: number
  readonly top: number
  readonly bottom: number
}

/** Lists of sheets are some KiB. */
const LIST_BYTES = MiB

/** A tag may be cut by the end of a chunk. */
const TAG_LENGTH = 64

/** A cell holds at most 32,767 characters, each of up to 10 bytes as an entity, and a formula. */
const CELL_LENGTH = MiB

export interface Sheet {
  readonly name: string
  /** Days of the workbook are counted from 1904-01-01 (18.2.28), which DuckDB does not know. */
  readonly countsFrom1904: boolean
  /** Of its XML, as the archive says. */
  readonly sizeBytes: number
  /** From the top; no more than `mostBytes` of XML are read for them. */
  readonly rows: (mostBytes: number) => AsyncGenerator<SheetRow, void>
  /** Six times as fast as its rows. */
  readonly marks: (mostBytes: number, letters?: LettersOfColumns) => Promise<SheetMarks>
}

/** Of columns, by what their first cell has made of them. */
export interface LettersOfColumns {
  readonly dates: readonly string[]
  readonly others: readonly string[]
}

/** What is rare in a sheet, and tells that its rows have to be looked at. */
interface SheetMarks {
  readonly hasFormulas: boolean
  /** Dates in columns of others, or numbers in those of dates. */
  readonly hasMisfits: boolean
  /** Merged areas by the place of their first cell. They are listed behind the rows. */
  readonly merges: ReadonlyMap<string, CellArea>
}

/** Of a sheet. More of them take memory, and one that takes values away is mostly among the first. */
const MOST_MERGES = 100_000

/** `sheet`: null for the first one. null where the workbook is written in a way that is not known here. */
export async function openSheet(path: string, sheet: string | null): Promise<Sheet | null> {
  const parts = await partsOfZip(path)
  if (parts === null) return null
  const workbook = await listOf(parts, 'xl/workbook.xml')
  const sheets = elements(workbook, 'sheet')
  const meant = sheets.find(({ name }) => sheet === null || name === sheet)
  const relations = elements(await listOf(parts, 'xl/_rels/workbook.xml.rels'), 'Relationship')
  const target = relations.find(({ Id }) => Id !== undefined && Id === meant?.['id'])?.['Target']
  const part = parts.get(posix.resolve('/xl', target ?? '').slice(1))
  if (part === undefined) return null
  const formats = formatsOf(await listOf(parts, 'xl/styles.xml'))
  return {
    name: meant!['name'] ?? '',
    countsFrom1904: elements(workbook, 'workbookPr').some(({ date1904 = '' }) =>
      ['1', 'true', 'on'].includes(date1904),
    ),
    sizeBytes: part.sizeBytes,
    rows: (mostBytes) => rowsOf(part, formats, mostBytes),
    marks: (mostBytes, letters) => marksOf(part, misfitsIn(letters, formats), mostBytes),
  }
}

/** Names of its sheets; null: it is no workbook. */
export async function sheetsOfWorkbook(path: string): Promise<readonly string[] | null> {
  const parts = await partsOfZip(path)
  if (parts?.has('xl/workbook.xml') !== true) return null
  const sheets = elements(await listOf(parts, 'xl/workbook.xml'), 'sheet')
  return sheets.flatMap(({ name }) => name ?? [])
}

async function listOf(parts: ReadonlyMap<string, ZippedPart>, name: string): Promise<string> {
  const part = parts.get(name)
  let xml = ''
  if (part !== undefined) for await (const text of textOfPart(part, LIST_BYTES)) xml += text
  return xml
}

/** Cells of the one kind in columns of the other, as programs write them. */
function misfitsIn(
  { dates, others }: LettersOfColumns = { dates: [], others: [] },
  formats: Formats,
): readonly RegExp[] {
  const inColumns = (letters: readonly string[]) =>
    `<(?:\\w+:)?c r="(?:${letters.length > MOST_NAMED ? '[A-Z]+' : letters.join('|')})\\d+"`
  const oneOf = (some: ReadonlySet<string>) => ` s="(?:${[...some].join('|')})"`
  const dated = formats.dates.size > MOST_NAMED ? ' s="\\d+"' : oneOf(formats.dates)
  // Without a number of its format a cell has the first one.
  const isMoment = formats.moments.size > MOST_NAMED ? '' : `(?!${oneOf(formats.moments)})`
  return [
    ...(others.length > 0 && formats.dates.size > 0
      ? [new RegExp(`${inColumns(others)}${dated}[^<>/]*>`)]
      : []),
    ...(dates.length > 0
      ? [new RegExp(`${inColumns(dates)}${isMoment}(?: s="\\d+")?(?: t="n")?>`)]
      : []),
  ]
}

/** Of more, all are taken for what is looked for: the rows tell. */
const MOST_NAMED = 100

async function marksOf(
  part: ZippedPart,
  misfits: readonly RegExp[],
  mostBytes: number,
): Promise<SheetMarks> {
  const merges = new Map<string, CellArea>()
  let [bytes, rest, hasFormulas, hasMisfits] = [0, '', false, false]
  for await (const chunk of await readPart(part)) {
    const text = rest + (chunk as Buffer).toString('latin1')
    hasFormulas ||= /<(?:\w+:)?f[\s/>]/.test(text)
    hasMisfits ||= misfits.some((one) => one.test(text))
    if (merges.size < MOST_MERGES)
      for (const [, merged = ''] of text.matchAll(MERGED))
        merges.set(merged.slice(0, merged.indexOf(':')), cellsOfRange(merged))
    // A tag that is whole is found again, which changes nothing.
    rest = text.slice(-TAG_LENGTH)
    bytes += (chunk as Buffer).length
    if (bytes >= mostBytes) break
  }
  return { hasFormulas, hasMisfits, merges }
}

const MERGED = /<(?:\w+:)?mergeCell\s+ref="([A-Z]{1,3}\d{1,7}:[A-Z]{1,3}\d{1,7})"/g

async function* rowsOf(
  part: ZippedPart,
  formats: Formats,
  mostBytes: number,
): AsyncGenerator<SheetRow, void> {
  let row = 0
  let cells: SheetCell[] = []
  for await (const { place, attributes, content } of cellsOf(part, mostBytes)) {
    if (place.row !== row && cells.length > 0) {
      yield { row, cells }
      cells = []
    }
    row = place.row
    const cell = cellOf(place.column, attributes, content, formats)
    if (cell.isFilled || cell.lacksValue) cells.push(cell)
  }
  if (cells.length > 0) yield { row, cells }
}

function cellOf(
  column: number,
  attributes: string,
  content: string,
  { dates, moments }: Formats,
): SheetCell {
  const type = /\bt="(\w+)"/.exec(attributes)?.[1] ?? 'n'
  const isFilled =
    type === 'inlineStr'
      ? /<(?:\w+:)?t\b[^>]*>[^<]/.test(content)
      : /<(?:\w+:)?v\b[^>]*>[^<]/.test(content)
  const isText = type === 's' || type === 'inlineStr' || type === 'str'
  // A formula of text may have nothing as its value.
  const lacksValue = !isFilled && type !== 'str' && /<(?:\w+:)?f\b/.test(content)
  const format = /\bs="(\d+)"/.exec(attributes)?.[1] ?? '0'
  const isNumber = isFilled && type === 'n'
  const number =
    isNumber && !moments.has(format)
      ? (/<(?:\w+:)?v\b[^>]*>([^<]+)/.exec(content)?.[1] ?? null)
      : null
  return { column, isFilled, isText, isDate: isNumber && dates.has(format), number, lacksValue }
}

interface CellText {
  readonly place: { readonly row: number; readonly column: number }
  readonly attributes: string
  readonly content: string
}

async function* cellsOf(part: ZippedPart, mostBytes: number): AsyncGenerator<CellText, void> {
  const cell = /<(?:\w+:)?c\b((?:[^>"]|"[^"]*")*?)(?:\/>|>([^]*?)<\/(?:\w+:)?c>)/g
  let rest = ''
  for await (const text of textOfPart(part, mostBytes)) {
    rest += text
    let end = 0
    for (const found of rest.matchAll(cell)) {
      end = found.index + found[0].length
      const [, attributes = '', content = ''] = found
      const [, letters, row] = /\br="([A-Z]{1,3})(\d{1,7})"/.exec(attributes) ?? []
      // Without places, cells follow each other, which few programs write.
      if (letters === undefined) return
      const place = { row: Number(row), column: columnNumber(letters) }
      yield { place, attributes, content }
    }
    rest = rest.slice(end)
    if (rest.includes('</sheetData>')) return
    if (rest.length > CELL_LENGTH) rest = rest.slice(-CELL_LENGTH)
  }
}

async function* textOfPart(part: ZippedPart, mostBytes: number): AsyncGenerator<string, void> {
  const decoder = new TextDecoder()
  let bytes = 0
  for await (const chunk of await readPart(part)) {
    bytes += (chunk as Buffer).length
    yield decoder.decode(chunk as Buffer, { stream: true })
    if (bytes >= mostBytes) return
  }
}

/** Of dates, with or without a time (18.8.30); DuckDB tells others by the same letters. */
const DATES: ReadonlySet<string> = new Set(['14', '15', '16', '17', '22'])

/** Of times, of dates of some countries, and of both (18.8.30). */
const MOMENTS = /^(?:1[4-9]|2[0-2]|2[7-9]|3[0-6]|4[5-7]|5\d)$/

/** Formats of cells, by their numbers. */
interface Formats {
  /** Those that show a number as a date. */
  readonly dates: ReadonlySet<string>
  /** Those that show a number as a date, as a part of one or as a time, such as the month alone. */
  readonly moments: ReadonlySet<string>
}

function formatsOf(styles: string): Formats {
  const own = elements(styles, 'numFmt')
  const numbersOf = (has: RegExp, quoted: RegExp) =>
    own.flatMap(({ formatCode = '', numFmtId = '' }) =>
      has.test(formatCode.replaceAll(quoted, '')) ? [numFmtId] : [],
    )
  const dates = new Set([...DATES, ...numbersOf(/DD|YY/i, /"[^"]*"/g)])
  // A colour in brackets has letters of days, but hours in brackets are a time.
  const moments = new Set([...dates, ...numbersOf(/[DMYHS]/i, /"[^"]*"|\\.|\[[^\]HMS][^\]]*\]/gi)])
  const cells = /<(?:\w+:)?cellXfs\b[^]*?<\/(?:\w+:)?cellXfs>/.exec(styles)?.[0] ?? ''
  const formats = elements(cells, 'xf')
  const withFormat = (has: (numFmtId: string) => boolean) =>
    new Set(formats.flatMap(({ numFmtId = '' }, i) => (has(numFmtId) ? [String(i)] : [])))
  return {
    dates: withFormat((id) => dates.has(id)),
    moments: withFormat((id) => moments.has(id) || MOMENTS.test(id)),
  }
}

/** The attributes of all elements of that name, without prefixes. */
function elements(xml: string, name: string): readonly Readonly<Record<string, string>>[] {
  const found = xml.matchAll(new RegExp(`<(?:\\w+:)?${name}\\s((?:[^>"]|"[^"]*")*)>`, 'g'))
  return Array.from(found, ([, attributes = '']) =>
    Object.fromEntries(
      Array.from(attributes.matchAll(/(?:\w+:)?(\w+)="([^"]*)"/g), ([, key, value]) => [
        key!,
        unescaped(value!),
      ]),
    ),
  )
}

const SIGNS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

const unescaped = (text: string) =>
  text.replaceAll(/&(\w+);/g, (entity, name: string) => SIGNS[name] ?? entity)

function columnNumber(letters: string): number {
  return Array.from(letters).reduce((sum, letter) => sum * 26 + letter.charCodeAt(0) - 64, 0)
}

/** The cells of `A3:C6`, as numbers. */
export function cellsOfRange(range: string): CellArea {
  const [, left, top, right, bottom] = /^([A-Z]+)(\d+):([A-Z]+)(\d+)$/.exec(range.toUpperCase())!
  const [a, b] = [columnNumber(left!), columnNumber(right!)]
  const [c, d] = [Number(top), Number(bottom)]
  return {
    left: Math.min(a, b),
    right: Math.max(a, b),
    top: Math.min(c, d),
    bottom: Math.max(c, d),
  }
}
