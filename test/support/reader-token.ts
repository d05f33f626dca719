// A token with rights, as eider.yml would declare it.

import { createHash } from 'node:crypto'
import { rowFilter } from '../../src/compiler/row-filter.ts'
import { readerOf } from '../../src/access/reader.ts'
import type { ServiceToken } from '../../src/odata/http/who-asks.ts'

interface Rights {
  readonly sets?: readonly string[]
  readonly rows?: Readonly<Record<string, string>>
  readonly expiresAt?: Date
}

/** The token itself is `name`. */
export function readerToken(name: string, { sets, rows = {}, expiresAt }: Rights): ServiceToken {
  const source = { path: 'eider.yml', text: '' }
  const span = { start: 0, end: 0 }
  const written = Object.entries(rows).map(([set, text]) => ({ set, text, source, span }))
  const filters = written.map((one) => {
    const filter = rowFilter(one, name)
    if ('code' in filter) throw new Error(filter.message)
    return { set: one.set, filter }
  })
  const hash = createHash('sha256').update(name).digest('hex')
  const scope = sets?.map((text) => ({ text, source, span })) ?? null
  return {
    token: { name, hash, expiresAt: expiresAt ?? null, scope, rows: written },
    reader: readerOf({ name, sets: scope, rows: filters }),
  }
}

export const bearer = (token: string) => ({ Authorization: `Bearer ${token}` })
