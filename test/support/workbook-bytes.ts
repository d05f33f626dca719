// A workbook of Excel as programs such as openpyxl write it, of a few rows and with what a test is about.

import { zip } from '../../src/files/zip.ts'

/** A text, a number or its digits as they are, a formula without a value, a date by its number of days, a time by its part of a day, or nothing. */
type Cell =
  | string
  | number
  | { readonly digits: string }
  | { readonly formula: string }
  | { readonly days: number }
  | { readonly time: number }
  | null

export type Rows = readonly (readonly Cell[])[]

interface Written {
  /** Of the workbook, as XML. */
  readonly properties?: string
  /** Such as `A2:A4`. */
  readonly merged?: readonly string[]
  /** Of sheets with the same rows, as XML. */
  readonly sheets?: readonly string[]
}

const R = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships'
const P = 'http://schemas.openxmlformats.org/package/2006'
const S = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main'
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml'

export async function workbookBytes(rows: Rows, written: Written = {}): Promise<Buffer> {
  const { properties = '<workbookPr/>', sheets = ['Q1 &amp; Q2'], merged = [] } = written
  const each = <T>(make: (name: string, number: number) => T) =>
    sheets.map((name, i) => make(name, i + 1))
  const override = (name: string, type: string) =>
    `<Override PartName="/xl/${name}.xml" ContentType="${TYPE}.${type}+xml"/>`
  const relation = (id: number, type: string, target: string) =>
    `<Relationship Id="rId${id}" Type="${R}/${type}" Target="${target}"/>`
  const overrides = each((_, i) => override(`worksheets/sheet${i}`, 'worksheet')).join('')
  const relations = each((_, i) => relation(i, 'worksheet', `/xl/worksheets/sheet${i}.xml`))
  const listed = each((name, i) => `<sheet name="${name}" sheetId="${i}" r:id="rId${i}"/>`)
  const parts = {
    '[Content_Types].xml': `<Types xmlns="${P}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>${override('workbook', 'sheet.main')}${override('styles', 'styles')}${overrides}</Types>`,
    '_rels/.rels': `<Relationships xmlns="${P}/relationships">${relation(1, 'officeDocument', 'xl/workbook.xml')}</Relationships>`,
    'xl/workbook.xml': `<workbook xmlns="${S}" xmlns:r="${R}">${properties}<sheets>${listed.join('')}</sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `<Relationships xmlns="${P}/relationships">${relations.join('')}${relation(99, 'styles', '/xl/styles.xml')}</Relationships>`,
    'xl/styles.xml': `<styleSheet xmlns="${S}"><cellXfs count="3"><xf numFmtId="0"/><xf numFmtId="14" applyNumberFormat="1"/><xf numFmtId="21" applyNumberFormat="1"/></cellXfs></styleSheet>`,
    ...Object.fromEntries(
      each((_, i) => [`xl/worksheets/sheet${i}.xml`, sheetXml(rows, merged)] as const),
    ),
  }
  const content = Object.entries(parts).map(([name, xml]) => ({
    name,
    content: [Buffer.from(xml)],
  }))
  const bytes: Buffer[] = []
  for await (const chunk of zip(content)) bytes.push(chunk)
  return Buffer.concat(bytes)
}

function sheetXml(rows: Rows, merged: readonly string[]): string {
  const lines = rows.map((cells, i) => {
    const all = cells.map((value, j) => cellXml(value, `${'ABCDEF'[j]}${i + 1}`))
    return `<row r="${i + 1}">${all.join('')}</row>`
  })
  const areas = merged.map((area) => `<mergeCell ref="${area}" />`).join('')
  const merges = merged.length === 0 ? '' : `<mergeCells count="1">${areas}</mergeCells>`
  return `<worksheet xmlns="${S}"><cols><col min="1" max="1"/></cols><sheetData>${lines.join('')}</sheetData>${merges}</worksheet>`
}

function cellXml(value: Cell, place: string): string {
  if (value === null) return `<c r="${place}" s="0" />`
  if (typeof value === 'number') return `<c r="${place}" t="n"><v>${value}</v></c>`
  if (typeof value === 'string') return `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`
  if ('digits' in value) return `<c r="${place}"><v>${value.digits}</v></c>`
  if ('days' in value) return `<c r="${place}" s="1"><v>${value.days}</v></c>`
  if ('time' in value) return `<c r="${place}" s="2"><v>${value.time}</v></c>`
  return `<c r="${place}"><f>${value.formula}</f><v /></c>`
}
