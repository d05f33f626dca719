// Which condition of the filter row is being written. The menu of a column begins one too.

import { state } from '../parts/state.ts'

export type Editing =
  | { readonly what: 'new'; readonly column: string | undefined }
  | { readonly what: 'condition'; readonly index: number }

export const editing = state<Editing | null>(null)

export function startFilter(column: string | undefined): void {
  editing.value = { what: 'new', column }
}
