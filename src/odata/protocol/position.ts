// Where a page begins: what its first row has in the columns that the rows are ordered by.

/** Texts of DuckDB, null for NULL. */
export type Position = readonly (string | null)[]

/** Longer positions are not carried in links, which must fit into a URL with everything else. */
const POSITION_LENGTH = 2_000

/** null when a link could not carry it. `text`: a JSON array. */
export function readPosition(text: string): Position | null {
  return text.length > POSITION_LENGTH ? null : (JSON.parse(text) as Position)
}
