// Names as people read them, where a model gives no label.

import { sameName, splitModelName } from '../../core/names.ts'
import type { EntitySet } from './model.ts'

/** `ordered_at` is `Ordered at`, `customerId` is `Customer ID`. */
export function wordsOf(name: string): string {
  const words = name
    .replaceAll(/(?<=[\p{Ll}\d])(?=\p{Lu})/gu, '_')
    .split('_')
    .filter((word) => word !== '')
    .map((word) =>
      /^id$/i.test(word) ? 'ID' : /^\p{Lu}{2}/u.test(word) ? word : word.toLowerCase(),
    )
  const text = words.join(' ')
  return text === '' ? name : text.replace(/^./u, (letter) => letter.toUpperCase())
}

/** One row of the set: `Order` of `orders` with the key `order_id`, else as the set is called. */
export function nounOf({ relation: { model }, type }: EntitySet): string {
  const { table } = splitModelName(model)
  const [key, ...more] = type.key
  const one = more.length > 0 ? undefined : key?.name.replace(/_id$/i, '')
  return wordsOf(one !== undefined && isTableOf(one, table) ? one : table)
}

/** Whether rows that are each `one` may be in a table of that name: `order` in `order`, `orders`, `category` in `categories`. */
export const isTableOf = (one: string, table: string): boolean =>
  [one, `${one}s`, `${one}es`, one.replace(/y$/i, 'ies')].some((name) => sameName(name, table))
