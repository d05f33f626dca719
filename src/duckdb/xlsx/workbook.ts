// A workbook of Excel with one sheet, as a stream of bytes: ECMA-376, part 1, as little of it as programs ask for. The row
// of the names stays in sight, and columns are as wide as their values need.

import { zip } from '../../files/zip.ts'
import {
  type CellType,
  columnLetters,
  cellFormats,
  scalesOf,
  type SheetColumn,
} from '../../core/xlsx/cells.ts'
import { xmlText } from '../../core/xlsx/texts.ts'

interface Sheet {
  readonly name: string
  readonly columns: readonly Pick<SheetColumn, 'name' | 'type' | 'value'>[]
  /** Texts of sheetRowsSql(), in their order. */
  readonly rows: AsyncIterable<Buffer>
}

/** Throws ZipTooLarge, and what `rows` throws. */
export function workbook({ name, columns, rows }: Sheet): AsyncGenerator<Buffer, void> {
  const part = (path: string, root: string, content: string) => ({
    name: path,
    content: [xml(root, content)],
  })
  return zip([
    part('[Content_Types].xml', `Types xmlns="${PACKAGE}/content-types"`, CONTENT_TYPES),
    part('_rels/.rels', RELATIONS, relation('officeDocument', 'xl/workbook.xml', 1)),
    part('xl/workbook.xml', `workbook ${MAIN} xmlns:r="${OFFICE}/relationships"`, sheets(name)),
    part(
      'xl/_rels/workbook.xml.rels',
      RELATIONS,
      relation('worksheet', 'worksheets/sheet1.xml', 1) + relation('styles', 'styles.xml', 2),
    ),
    part('xl/styles.xml', `styleSheet ${MAIN}`, styleSheet(scalesOf(columns))),
    { name: 'xl/worksheets/sheet1.xml', content: sheet(columns, rows) },
  ])
}

const PACKAGE = 'http://schemas.openxmlformats.org/package/2006'
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006'
const MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
const RELATIONS = `Relationships xmlns="${PACKAGE}/relationships"`
const CONTENT = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

const DECLARATION = '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n'

const xml = (root: string, content: string) =>
  Buffer.from(`${DECLARATION}<${root}>${content}</${root.replace(/ .*$/, '')}>`)

const relation = (type: string, target: string, id: number) =>
  `<Relationship Id="r${id}" Type="${OFFICE}/relationships/${type}" Target="${target}"/>`

const override = (path: string, type: string) =>
  `<Override PartName="/xl/${path}.xml" ContentType="${CONTENT}.${type}+xml"/>`

const CONTENT_TYPES =
  '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>' +
  override('workbook', 'sheet.main') +
  override('worksheets/sheet1', 'worksheet') +
  override('styles', 'styles')

const sheets = (name: string) =>
  `<sheets><sheet name="${xmlText(sheetName(name))}" sheetId="1" r:id="r1"/></sheets>`

/** Excel allows 31 characters, some not at all, and keeps one name for itself. */
function sheetName(name: string): string {
  const usable = name.replaceAll(/[[\]:*?/\\']/g, '_').slice(0, 31)
  return usable === '' || usable.toLowerCase() === 'history' ? 'rows' : usable
}

const INTEGER = 1
const TIME = 21
const OWN = 164

/** In the order of `formats`. */
function styleSheet(scales: readonly number[]): string {
  const own = ['yyyy-mm-dd', 'yyyy-mm-dd hh:mm:ss', ...scales.map(decimalFormat)]
  const codes = own.map((code, i) => `<numFmt numFmtId="${OWN + i}" formatCode="${code}"/>`)
  const fill = (pattern: string) => `<fill><patternFill patternType="${pattern}"/></fill>`
  const cell = (format: number, more = '') =>
    `<xf numFmtId="${format}" fontId="0" fillId="0" borderId="0" xfId="0" applyNumberFormat="1"${more}/>`
  const cells = [
    cell(0),
    cell(0).replace('fontId="0"', 'fontId="1" applyFont="1"'),
    cell(INTEGER),
    cell(OWN),
    cell(OWN + 1),
    cell(TIME),
    cell(0, ' quotePrefix="1"'),
    ...scales.map((_, i) => cell(OWN + 2 + i)),
  ]
  return [
    list('numFmts', codes),
    list('fonts', ['<font><sz val="11"/></font>', '<font><b/><sz val="11"/></font>']),
    list('fills', [fill('none'), fill('gray125')]),
    list('borders', ['<border><left/><right/><top/><bottom/><diagonal/></border>']),
    list('cellStyleXfs', ['<xf numFmtId="0" fontId="0" fillId="0" borderId="0"/>']),
    list('cellXfs', cells),
    list('cellStyles', ['<cellStyle name="Normal" xfId="0" builtinId="0"/>']),
  ].join('')
}

/** Excel shows no more digits than that of any number. */
const MOST_DECIMALS = 15

const decimalFormat = (scale: number) =>
  scale === 0 ? '0' : `0.${'0'.repeat(Math.min(scale, MOST_DECIMALS))}`

const list = (name: string, items: readonly string[]) =>
  `<${name} count="${items.length}">${items.join('')}</${name}>`

const PANE =
  '<sheetViews><sheetView workbookViewId="0"><pane ySplit="1" topLeftCell="A2" activePane="bottomLeft" state="frozen"/></sheetView></sheetViews>'

/** A number that is a text because of its digits needs no mark that warns of it. */
const END =
  '</sheetData><ignoredErrors><ignoredError sqref="A1:XFD1048576" numberStoredAsText="1"/></ignoredErrors></worksheet>'

async function* sheet(
  columns: readonly SheetColumn[],
  rows: AsyncIterable<Buffer>,
): AsyncGenerator<Buffer, void> {
  const widths = columns.map(
    ({ name, type }, i) =>
      `<col min="${i + 1}" max="${i + 1}" width="${widthOf(name, type)}" customWidth="1"/>`,
  )
  const names = columns.map(
    ({ name }, i) =>
      `<c r="${columnLetters(i)}1" s="${cellFormats.head}" t="inlineStr"><is><t xml:space="preserve">${xmlText(name)}</t></is></c>`,
  )
  const cols = widths.length === 0 ? '' : `<cols>${widths.join('')}</cols>`
  const head = `<row r="1">${names.join('')}</row>`
  yield Buffer.from(`${DECLARATION}<worksheet ${MAIN}>${PANE}${cols}<sheetData>${head}`)
  yield* rows
  yield Buffer.from(END)
}

/** In characters: a date that does not fit is shown as a row of signs, and a text beyond it is cut by its neighbour. */
function widthOf(name: string, type: CellType): number {
  const widths = { boolean: 8, date: 12, time: 10, moment: 20, text: 24 }
  const own = type.kind in widths ? widths[type.kind as keyof typeof widths] : 14
  return Math.min(60, Math.max(own, name.length + 3))
}
