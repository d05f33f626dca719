// Types of DuckDB that queries name whatever the columns are of: numbers of rows, and texts.

import { columnType } from '../../core/relation.ts'

export const BIGINT = columnType('BIGINT')
export const VARCHAR = columnType('VARCHAR')
