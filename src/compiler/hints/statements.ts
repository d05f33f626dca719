// Statements that stand where a SELECT belongs, each with what to write.

import type { ModelName } from '../../core/names.ts'
import { nameOf, type Token } from '../sql/tokens.ts'
import { isTypeName } from './dialects.ts'

const ALONE = 'write only the SELECT'

const hints: Readonly<Record<string, (model: ModelName) => string>> = {
  create: (model) => `${ALONE}; eider creates ${model}`,
  insert: () => `${ALONE}; @kind: append or @kind: merge adds its rows`,
  merge: () => `${ALONE}; @kind: merge writes the rows that differ`,
  update: () => `${ALONE}; @kind: merge writes the rows that differ`,
  delete: () => `${ALONE}; @kind: merge with @deletes: mirror deletes rows that are gone`,
  truncate: () => `${ALONE}; each run replaces the whole table`,
  drop: () => `${ALONE}; each run replaces the whole table`,
  alter: () => `${ALONE}; columns follow the SELECT`,
  model: () => 'what MODEL (…) says goes into annotations: -- @kind: table',
  audit: () => 'what AUDIT (…) says goes into the model: -- @check: condition',
  set: () => `${ALONE}; eider sets the options of DuckDB; see memory_limit in eider.yml`,
  use: () => `${ALONE}, with names such as schema.table`,
  install: () => `${ALONE}; eider loads no extensions`,
  load: () => `${ALONE}; eider loads no extensions`,
  attach: () => 'declare the database under sources in eider.yml',
  copy: () => 'write SELECT … FROM read_csv(…) to read a file; a model writes none',
  export: () => `${ALONE}; a model writes no files`,
  begin: () => `${ALONE}; eider runs it in a transaction`,
  call: () => ALONE,
  pragma: () => ALONE,
  explain: () => ALONE,
  describe: () => ALONE,
  summarize: () => ALONE,
  show: () => ALONE,
}

const QUERIES = /^(?:select|from|with|values|pivot|unpivot|table)$/

/** undefined for what may be a SELECT. */
export function statementHint(
  [first, second]: readonly Token[],
  model: ModelName,
): string | undefined {
  const word = first?.kind === 'word' ? first.text.toLowerCase() : ''
  const isColumn = nameOf(first) !== null && second?.kind === 'word' && isTypeName(second.text)
  if (isColumn && !QUERIES.test(word)) return 'a list of columns needs -- @kind: events above it'
  if (!Object.hasOwn(hints, word)) return undefined
  // A CTE or a table may have such a name, but none begins a query with it.
  const isQuery = word === 'show' || word === 'describe' ? false : second?.text === '.'
  return isQuery ? undefined : hints[word]!(model)
}
