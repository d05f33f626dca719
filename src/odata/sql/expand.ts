// Rows with their related rows inside, as texts of JSON that DuckDB writes.
//
// One statement for all levels. The page is computed first; each level then reads its table once for all parents, by a
// semi-join with their keys, and makes one text for each parent, which is joined to the level above:
//
//   page        the rows of the page, with the columns that links begin at
//   r1 rows     rows of the first level whose key is in the page, numbered within their parent
//   r1 texts    one text for each parent: `[{…},{…}]`
//
// A subquery for each row of the page would be the same to read, and is some 200 times slower: DuckDB numbers the
// rows of the whole table before it looks at the page.

import { columnType } from '../../core/relation.ts'
import { limits } from '../../core/limits.ts'
import { type Sql, sql } from '../../core/sql.ts'
import type { BoundQuery, Expansion, OutputProperty } from '../bind/bound-request.ts'
import { BIGINT } from './engine-types.ts'
import { columnSql, conditionSql } from './expression.ts'
import type { JsonFormat } from '../protocol/negotiate.ts'
import { TOO_MANY_RELATED, TOO_MUCH_WITHIN } from './raised.ts'
import { OUTER } from '../bind/expand.ts'
import { orderSql, relationSql } from './relation.ts'
import { aboutName, columnsSql, markName, rowsSql, type RowWindow, selectSql } from './query.ts'
import { propertyMembers, rowTextsSql } from './json.ts'
import { jsonTextSql, type Member, objectSql, orNull } from './json-value.ts'

const BOOLEAN = columnType('BOOLEAN')

// No property has a space in its name, so these meet none.
const PARENT_KEY = sql.ident('parent key')
const NUMBER = sql.ident('row number')
const ROW_ID = sql.ident('row id')
const PAGE = 'page'
const SHOWN = 'shown rows'

/** One text for each row, as rowTextsSql gives it. */
export function entityTextsSql(query: BoundQuery, window: RowWindow, format: JsonFormat): Sql {
  if (isStoredRow(query, window)) {
    const members = propertyMembers(query.row.alias, query.output, format)
    return selectSql(objectSql(',{', members), query, window)
  }
  const rows = rowsSql(query, window)
  if (query.expand.length === 0) return rowTextsSql(rows, query.output, format, window)
  const numbered = sql`SELECT *, row_number() OVER () AS ${NUMBER} FROM (${rows})`
  const related = query.expand.flatMap((expansion) => relatedRows(expansion, PAGE, format))
  const members = membersOf(
    propertyMembers('page', query.output, format),
    query.expand,
    related,
    format,
    PAGE,
  )
  const { shown = null } = window
  const until = shown === null ? sql.empty : sql` WHERE ${NUMBER} <= ${sql.value(shown, BIGINT)}`
  const shownRows = sql`${sql.ident(SHOWN)} AS (FROM page${until})`
  const tables = [table('page', numbered), shownRows, ...related.flatMap((level) => level.tables)]
  const joins = related.map(({ join }) => join)
  const number = sql`${sql.ident('page')}.${NUMBER}`
  const object = objectSql(',{', members)
  const text = window.keyset == null ? object : window.keyset.placed(object, number)
  return sql`SELECT text FROM (WITH ${sql.join(tables)} SELECT ${text} AS text
    FROM page ${sql.join(joins, sql` `)} WHERE ${nestedGuardSql(PAGE, related)} ORDER BY ${number})`
}

/**
 * Whether it is one row of a table with values as they are stored, as a lookup asks for. Such a row is written where it is
 * read, which is one SELECT less to plan: a tenth of the time of a lookup.
 */
function isStoredRow(
  { relation, row, output, expand, order }: BoundQuery,
  { limit, keyset }: RowWindow,
): boolean {
  const isStored = ({ name, value }: OutputProperty) =>
    value.kind === 'property' &&
    value.row.alias === row.alias &&
    value.property.column.name === name &&
    value.property.column.type === value.type.engine &&
    value.type.kind === 'primitive' &&
    !value.property.clamped
  const isOne = limit === 1 && keyset == null && order.length === 0 && expand.length === 0
  return isOne && relation.kind === 'set' && output.every(isStored)
}

/** What is said of a navigation property stands right before it (JSON Format 4.01, 8.1). */
function membersOf(
  own: readonly Member[],
  expand: readonly Expansion[],
  related: readonly Level[],
  { metadata }: JsonFormat,
  parent: string,
): readonly Member[] {
  const isAbout = ({ name, within = [] }: Expansion, { path }: Member) =>
    within.length === 0 && path.length === 1 && path[0]!.startsWith(`${name}@`)
  const members = [
    ...own.filter((member) => !expand.some((expansion) => isAbout(expansion, member))),
    ...expand.flatMap((expansion) => [
      ...own.filter((member) => isAbout(expansion, member)),
      ...(!expansion.many || expansion.context === undefined || metadata === 'none'
        ? []
        : [memberOf(expansion, parent, '@odata.context', contextText(expansion))]),
      ...related.filter(({ of }) => of === expansion).map(({ member }) => member),
    ]),
  ]
  return expand.some(({ within = [] }) => within.length > 0) ? besideObjects(members) : members
}

/** What stands in one object must be neighbours. */
function besideObjects(members: readonly Member[], depth = 0): readonly Member[] {
  if (members.every(({ path }) => path.length <= depth)) return members
  const names = new Map<string | undefined, Member[]>()
  for (const member of members) {
    const same = names.get(member.path[depth])
    if (same === undefined) names.set(member.path[depth], [member])
    else same.push(member)
  }
  return [...names.values()].flatMap((same) => besideObjects(same, depth + 1))
}

const contextText = ({ context }: Expansion) => sql.value(JSON.stringify(`#${context}`))

/** In the object that it is within; without a text where the row of the parent lacks that. */
function memberOf(
  { name, within = [], mark, isNullObject, query }: Expansion,
  parent: string,
  about: string,
  text: Sql,
): Member {
  const path = [...within, `${name}${about}`]
  if (mark === undefined) return { path, text }
  const isThere = sql.ident(parent, markName(query.row.alias))
  return { path, text: sql`CASE WHEN ${isThere} THEN ${text} END`, isOptional: true, isNullObject }
}

/** One level: its tables, how they are joined to the parent's, and what they add to the parent's rows. */
interface Level {
  readonly of: Expansion
  readonly tables: readonly Sql[]
  readonly join: Sql
  readonly member: Member
  /** Its rows as one text for each parent; null for their number alone. */
  readonly text: Sql | null
}

const table = (name: string, query: Sql): Sql => sql`${sql.ident(name)} AS MATERIALIZED (${query})`

function relatedRows(of: Expansion, parent: string, format: JsonFormat): readonly Level[] {
  const { countOnly, query } = of
  const counts = countOnly || query.withCount ? [relatedCounts(of, parent, format)] : []
  return countOnly ? counts : [...counts, relatedTexts(of, parent, format)]
}

/** Rows before $skip and $top. */
function relatedCounts(of: Expansion, parent: string, { ieee754 }: JsonFormat): Level {
  const { query } = of
  const counts = `${query.row.alias} counts`
  const key = theirKey(of, parent)
  const counted = sql`SELECT ${key} AS ${PARENT_KEY}, count(*) AS rows ${relatedSql(of, parent)} GROUP BY ALL`
  const digits = sql`CAST(coalesce(${sql.ident(counts, 'rows')}, 0) AS VARCHAR)`
  const text = ieee754 ? sql`concat('"', ${digits}, '"')` : digits
  const member = memberOf(of, parent, '@odata.count', text)
  return {
    of,
    tables: [table(counts, counted)],
    join: joined(counts, parent, of),
    member,
    text: null,
  }
}

function relatedTexts(of: Expansion, parent: string, format: JsonFormat): Level {
  const { many, query, isOptional = false } = of
  const { alias } = query.row
  const [rows, texts] = [`${alias} rows`, `${alias} texts`]
  const inner = query.expand.flatMap((next) => relatedRows(next, rows, format))
  const members = membersOf(
    propertyMembers(rows, query.output, format),
    query.expand,
    inner,
    format,
    rows,
  )
  const object = objectSql('{', [...aboutEntity(of, format), ...members])
  const value = many
    ? sql`concat('[', string_agg(${object}, ',' ORDER BY ${sql.ident(rows)}.${NUMBER}), ']')`
    : sql`first(${object})`
  const joins = inner.map(({ join }) => join)
  const key = sql`${sql.ident(rows)}.${PARENT_KEY}`
  const written = sql`SELECT ${key}, ${value} AS text
    FROM ${sql.ident(rows)} ${sql.join(joins, sql` `)}
    WHERE ${guardSql(rows, query.output)} AND ${nestedGuardSql(rows, inner)} GROUP BY ${key}`
  const absent = many ? sql`'[]'` : sql`'null'`
  const tables = [
    table(rows, numberedRows(of, parent)),
    ...inner.flatMap((level) => level.tables),
    table(texts, written),
  ]
  const found = withAnnotationsSql(sql.ident(texts, 'text'), of, parent, format)
  const member = memberOf(of, parent, '', isOptional ? found : sql`coalesce(${found}, ${absent})`)
  return {
    of,
    tables,
    join: joined(texts, parent, of),
    member: isOptional ? { ...member, isOptional } : member,
    text: found,
  }
}

/** What is said of the one entity is known to the row that leads to it. */
function withAnnotationsSql(
  text: Sql,
  { annotations = [], query }: Expansion,
  parent: string,
  format: JsonFormat,
): Sql {
  if (annotations.length === 0) return text
  const members = annotations.map(({ name, type }, i): Member => {
    const value = sql.ident(parent, aboutName(query.row.alias, i))
    return { path: [name], text: orNull(jsonTextSql(value, type, format)) }
  })
  const said = objectSql('{', members)
  return sql`CASE WHEN ${text} = '{}' THEN ${said}
    ELSE substr(${said}, 1, length(${said}) - 1) || ',' || substr(${text}, 2) END`
}

/** The context of a single entity stands inside of it (JSON Format 4.01, 4.6.1). */
const aboutEntity = (of: Expansion, { metadata }: JsonFormat): readonly Member[] =>
  of.many || of.context === undefined || metadata === 'none'
    ? []
    : [{ path: ['@odata.context'], text: contextText(of) }]

/** One row above the limit is enough to know that it was passed. */
function numberedRows(expansion: Expansion, parent: string): Sql {
  const { many, query } = expansion
  const key = theirKey(expansion, parent)
  const id = query.expand.some(isForEachParent)
    ? sql`, row_number() OVER () AS ${ROW_ID}`
    : sql.empty
  const place = sql`row_number() OVER (PARTITION BY ${key}${orderSql(query.order)})`
  const number = many ? sql`, ${place} AS ${NUMBER}` : sql.empty
  return sql`SELECT ${columnsSql(query)}, ${key} AS ${PARENT_KEY}${number}${id}
    ${relatedSql(expansion, parent)}${windowOf(query, place)} LIMIT ${sql.value(limits.expandedRows + 1, BIGINT)}`
}

/** `place` is rewritten: its name could mean a column of the parent. */
function windowOf({ skip, top }: BoundQuery, place: Sql): Sql {
  if (skip === 0 && top === null) return sql.empty
  const after = sql`${place} > ${sql.value(skip, BIGINT)}`
  if (top === null) return sql` QUALIFY ${after}`
  const last = Math.min(skip + top, Number.MAX_SAFE_INTEGER)
  return sql` QUALIFY ${after} AND ${place} <= ${sql.value(last, BIGINT)}`
}

/** A condition on rows, so that it fails before their texts are put together, which takes several times their memory. */
function guardSql(rows: string, output: readonly OutputProperty[]): Sql {
  const texts = output.filter(({ type }) => type.kind === 'primitive' && type.name === 'Edm.String')
  const lengths = texts.map(({ name }) => sql`coalesce(sum(strlen(${sql.ident(rows, name)})), 0)`)
  const size = sql.join([sql`0`, ...lengths], sql` + `)
  const isTooLarge = sql`count(*) > ${sql.value(limits.expandedRows, BIGINT)}
    OR ${size} > ${sql.value(limits.expandedTextBytes, BIGINT)}`
  return unlessSql(sql`SELECT ${isTooLarge} FROM ${sql.ident(rows)}`, TOO_MANY_RELATED)
}

/**
 * The same for the texts inside of the rows. A related row is read once, but its text stands in each row that leads to it,
 * so that from level to level a few rows become any number of bytes.
 */
function nestedGuardSql(rows: string, inner: readonly Level[]): Sql {
  const texts = inner.flatMap(({ text }) => (text === null ? [] : [text]))
  if (texts.length === 0) return sql`TRUE`
  const lengths = texts.map((text) => sql`coalesce(sum(strlen(${text})), 0)`)
  const joins = inner.map(({ join }) => join)
  const isTooLarge = sql`${sql.join(lengths, sql` + `)} > ${sql.value(limits.nestedTextBytes, BIGINT)}`
  return unlessSql(
    sql`SELECT ${isTooLarge} FROM ${sql.ident(rows)} ${sql.join(joins, sql` `)}`,
    TOO_MUCH_WITHIN,
  )
}

/** A condition that holds, or fails with these words. */
const unlessSql = (isTooLarge: Sql, words: string): Sql => sql`CASE WHEN (${isTooLarge})
    THEN CAST(error(${sql.value(words)}) AS ${sql.type(BOOLEAN)}) ELSE TRUE END`

/** What tells to which row of the parent a related row belongs. */
const theirKey = (expansion: Expansion, parent: string) =>
  isForEachParent(expansion)
    ? sql`${sql.ident(OUTER)}.${rowId(parent)}`
    : columnSql(expansion.query.row.alias, expansion.link.theirs)

/** Its rows differ from parent to parent, also where the link leads to the same ones. */
const isForEachParent = ({ outer }: Expansion) => outer.length > 0

const rowId = (parent: string) => (parent === PAGE ? NUMBER : ROW_ID)

/** The rows that any row of the parent leads to. */
function relatedSql(expansion: Expansion, parent: string): Sql {
  const { query } = expansion
  const { relation, row, filter } = query
  const rows = sql`${relationSql(relation)} AS ${sql.ident(row.alias)}`
  const theirs = columnSql(row.alias, expansion.link.theirs)
  const parents = parent === PAGE ? SHOWN : parent
  const from = isForEachParent(expansion)
    ? sql`FROM ${sql.ident(parents)} AS ${sql.ident(OUTER)} JOIN ${rows} ON ${theirs} = ${linkColumn(OUTER, expansion)} WHERE TRUE`
    : sql`FROM ${rows} WHERE ${theirs} IN (SELECT ${linkColumn(parents, expansion)} FROM ${sql.ident(parents)})`
  return filter === null ? from : sql`${from} AND ${conditionSql(filter)}`
}

const linkColumn = (parent: string, { query }: Expansion) =>
  sql.ident(parent, `${query.row.alias} key`)

function joined(name: string, parent: string, expansion: Expansion): Sql {
  const ours = isForEachParent(expansion)
    ? sql`${sql.ident(parent)}.${rowId(parent)}`
    : linkColumn(parent, expansion)
  return sql`LEFT JOIN ${sql.ident(name)} ON ${sql.ident(name)}.${PARENT_KEY} = ${ours}`
}
