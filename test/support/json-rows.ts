// The rows of a request as the JSON that the service writes of them.

import { withAnnotations } from '../../src/odata/bind/control-information.ts'
import { entityTextsSql } from '../../src/odata/sql/expand.ts'
import type { InMemoryTables } from './in-memory-tables.ts'

const ALL = { offset: 0, limit: null }

/** The target as a person writes it: the values of its options are not encoded. */
export async function jsonRows(
  tables: InMemoryTables,
  target: string,
): Promise<readonly unknown[]> {
  const query = withAnnotations(tables.query(encodedTarget(target)))
  const texts = await tables.run(
    entityTextsSql(query, ALL, { metadata: 'minimal', ieee754: false }),
  )
  return texts.map((row) => JSON.parse((Object.values(row)[0] as string).slice(1)) as unknown)
}

export function encodedTarget(target: string): string {
  const [path = '', options] = target.split(/\?(.*)/s)
  if (options === undefined) return path
  const parts = options.split('&').map((option) => {
    const [name = '', value = ''] = option.split(/=(.*)/s)
    return `${name}=${encodeURIComponent(value)}`
  })
  return `${path}?${parts.join('&')}`
}
