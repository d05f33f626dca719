import type { ModelChange } from '../../../core/docs-data.ts'

/** Before a name; colour is never the only sign. */
export const CHANGE_SIGNS: Readonly<Record<ModelChange['is'], string>> = {
  added: '+',
  removed: '−',
  changed: '~',
  affected: '›',
}
