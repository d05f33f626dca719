// Texts as Excel reads them in XML. It takes `_x0041_` for an A, so the first character of what looks like that is written
// in this way itself. What XML cannot hold becomes U+FFFD, and a text that is too long for a cell is cut and says so.

import { type Sql, sql } from '../sql.ts'
import { escapeXml, xmlEntity } from '../xml.ts'

/** Units of UTF-16 in one cell. */
const LONGEST = 32_767

/** Characters that are left of a text that is too long: each may be two of UTF-16. */
const KEPT = 16_000

const UNUSABLE = String.raw`[\x00-\x08\x0B\x0C\x0E-\x1F\x{FFFE}\x{FFFF}]`
const MARKED = String.raw`[&<>\x00-\x08\x0B-\x1F\x{FFFE}\x{FFFF}]|_x`
const CODED = '_x[0-9A-Fa-f]{4}_'
/** The first one is in all others. An XML reader makes line feeds of carriage returns that it meets as they are. */
const SIGNS = ['&', '<', '>', '"', '\r']

const REPLACEMENT = '\uFFFD'

/** The text within its element. Most texts are what they are. */
export function sheetText(value: Sql): Sql {
  const isMarked = sql`regexp_matches(${value}, ${sql.value(MARKED)}) OR strlen(${value}) > ${sql.value(LONGEST)}`
  return sql`CASE WHEN ${isMarked} THEN ${escaped(shortened(value))} ELSE ${value} END`
}

function escaped(text: Sql): Sql {
  const coded = sql`CASE WHEN regexp_matches(${text}, ${sql.value(CODED)}) THEN replace(${text}, '_x', '_x005F_x') ELSE ${text} END`
  const marked = SIGNS.reduce(
    (before, sign) => sql`replace(${before}, ${sql.value(sign)}, ${sql.value(xmlEntity(sign))})`,
    coded,
  )
  return sql`regexp_replace(${marked}, ${sql.value(UNUSABLE)}, ${sql.value(REPLACEMENT)}, 'g')`
}

function shortened(value: Sql): Sql {
  const wide = sql`length(regexp_replace(${value}, ${sql.value(String.raw`[^\x{10000}-\x{10FFFF}]`)}, '', 'g'))`
  const fits = sql`strlen(${value}) <= ${sql.value(LONGEST)} OR length(${value}) + ${wide} <= ${sql.value(LONGEST)}`
  const cut = sql`concat(left(${value}, ${sql.value(KEPT)}), '… (cut: ', length(${value}), ' characters)')`
  return sql`CASE WHEN ${fits} THEN ${value} ELSE ${cut} END`
}

/** What a spreadsheet takes for a formula when it is typed. */
export const looksLikeFormula = (value: Sql): Sql => {
  const signs = ['=', '+', '-', '@', '\t', '\r'].map((sign) => sql.value(sign.codePointAt(0)!))
  return sql`unicode(${value}) IN (${sql.join(signs)})`
}

/** A name in the first row, or of the sheet. */
export const xmlText = (text: string): string =>
  escapeXml(text.replaceAll(/_(?=x[0-9A-Fa-f]{4}_)/g, '_x005F_'), /[&<>"\r]/g)
    // oxlint-disable-next-line no-control-regex
    .replaceAll(/[\u0000-\u0008\u000B\u000C\u000E-\u001F\uFFFE\uFFFF]/g, REPLACEMENT)
