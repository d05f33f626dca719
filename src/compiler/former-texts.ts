// The text of a SELECT as it was while columns of it had their former names, by which the rule that made rows is known again.

import type { ColumnRename } from '../core/model.ts'

/** Lines of `@renamed_from` may stay, and some tables are older than others: each may have had any of the names. */
const MOST = 64

/**
 * `canonical`: the tree of the SELECT as text. Only an alias is taken back: where the SELECT reads a column under the new
 * name, it may be another column than the one that it read before.
 */
export function formerTexts(
  canonical: string,
  renames: readonly ColumnRename[],
): readonly string[] {
  let texts: readonly string[] = [canonical]
  for (const { from, to } of renames) {
    const [before = '', after, ...more] = canonical.split(aliasOf(to))
    if (after === undefined || more.length > 0 || before === '') continue
    // A column under its own name may have had no alias.
    const aliases = isColumn(from, after) ? [from, ''] : [from]
    const others = texts.flatMap((text) =>
      aliases.map((alias) => text.replace(aliasOf(to), () => aliasOf(alias))),
    )
    texts = [...new Set([...texts, ...others])]
    if (texts.length > MOST) return []
  }
  return texts.slice(1)
}

/** `after`: what stands after its alias in the tree. */
function isColumn(name: string, after: string): boolean {
  const path = /^,(?:"query_location":\d+,)?"column_names":(\[[^\]]*\])/.exec(after)?.[1]
  return path?.endsWith(`${JSON.stringify(name)}]`) === true
}

const aliasOf = (name: string): string => `"alias":${JSON.stringify(name)}`
