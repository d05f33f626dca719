// What the only sheet of a workbook holds, read from its XML as it stands.

import { unzip } from './unzip.ts'

export interface Cell {
  /** `A1` */
  readonly place: string
  /** `inlineStr` for text, `b` for a boolean, nothing for a number. */
  readonly type: string | undefined
  readonly format: number
  readonly text: string
}

interface Sheet {
  readonly xml: string
  readonly cells: readonly Cell[]
  /** How the format of a cell shows numbers, by its place. */
  readonly numberFormat: (format: number) => string
}

const entities: Readonly<Record<string, string>> = {
  '&lt;': '<',
  '&gt;': '>',
  '&quot;': '"',
  '&#13;': '\r',
  '&amp;': '&',
}

export function sheetOf(workbook: Buffer): Sheet {
  const parts = unzip(workbook)
  const xml = String(parts.get('xl/worksheets/sheet1.xml'))
  const styles = String(parts.get('xl/styles.xml'))
  const own = new Map(
    [...styles.matchAll(/numFmtId="(\d+)" formatCode="([^"]*)"/g)].map(([, id, code]) => [
      id,
      code,
    ]),
  )
  const used = [...styles.replace(/^.*<cellXfs/s, '').matchAll(/<xf numFmtId="(\d+)"/g)]
  return {
    xml,
    cells: [...xml.matchAll(/<c r="(\w+)"([^>]*)>(.*?)<\/c>/gs)].map(
      ([, place = '', attributes = '', content = '']) => ({
        place,
        type: /t="(\w+)"/.exec(attributes)?.[1],
        format: Number(/s="(\d+)"/.exec(attributes)?.[1] ?? 0),
        text: content.replaceAll(/<[^>]*>/g, '').replaceAll(/&[^;]+;/g, (one) => entities[one]!),
      }),
    ),
    numberFormat: (format) => own.get(used[format]![1]!) ?? used[format]![1]!,
  }
}
