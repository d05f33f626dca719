// Where queries name models, tables of sources and their columns: what an editor finds, shows and renames.

import type { Mention } from '../../core/model.ts'
import type { Span } from '../../core/source-text.ts'
import type { ModelBody } from '../../core/sql.ts'
import type { SyntaxNode } from '../../duckdb/syntax.ts'
import { spanAtByte } from '../hints/engine-diagnostic.ts'
import type { ResolvedQuery } from '../resolve.ts'
import { nodeLocation } from '../sql/references.ts'
import { isSymbol, tokenize } from '../sql/tokens.ts'
import { columnsOfQuery, contextOf, type LineageSources } from './query.ts'
import { nodeOf, type ScopeValue } from './scope.ts'

/** In the order of their places, file by file. */
export function mentionsIn(
  queries: readonly ResolvedQuery[],
  sources: Omit<LineageSources, 'trees'>,
): readonly Mention[] {
  const context = contextOf(sources)
  return queries.flatMap(({ parsed: { body }, tree }) => {
    if (tree === null) return []
    // The right side of a recursion is looked at until nothing is added.
    const found = new Map<number, Mention>()
    const add = (mention: Mention | null) => {
      if (mention !== null) found.set(mention.span.start, mention)
    }
    const observer = {
      table: (node: SyntaxNode, name: string) => add(tableMention(body, node, name)),
      column: (node: SyntaxNode, value: ScopeValue, isItem: boolean) =>
        add(columnMention(body, node, value, isItem)),
    }
    columnsOfQuery(nodeOf(tree), {
      scope: null,
      ctes: new Map(),
      context: { ...context, observer },
    })
    return [...found.values()].toSorted((a, b) => a.span.start - b.span.start)
  })
}

function tableMention(body: ModelBody, node: SyntaxNode, model: string): Mention | null {
  const at = nodeLocation(node)
  if (at === null) return null
  return { source: body.source, span: spanAtByte(body, at), model, column: null }
}

function columnMention(
  body: ModelBody,
  node: SyntaxNode,
  { is, part = 0, table }: ScopeValue,
  isItem: boolean,
): Mention | null {
  const at = nodeLocation(node)
  if (at === null || is === undefined) return null
  const whole = spanAtByte(body, at)
  const names = namesIn(body.source.text, whole)
  const span = names[part]
  if (span === undefined) return null
  const isNamed = part > 0 && Boolean(table?.schema)
  const qualifier = isNamed ? { start: whole.start, end: names[part - 1]!.end } : null
  return {
    source: body.source,
    span,
    ...is,
    // A field of a STRUCT gives the item another name.
    ...(isItem && part === names.length - 1 ? { isItem } : {}),
    ...(qualifier === null ? {} : { qualifier }),
  }
}

/** Names that dots join. */
function namesIn(text: string, { start, end }: Span): readonly Span[] {
  return tokenize(text.slice(start, end))
    .filter((token) => token.kind !== 'comment' && !isSymbol(token, '.'))
    .map((token) => ({ start: start + token.start, end: start + token.end }))
}
