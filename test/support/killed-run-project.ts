// The project that crash tests share with the processes that they kill.

import { events, query } from './handmade-models.ts'

export const collected = [
  events('raw.e', { id: 'INTEGER!', note: 'VARCHAR' }),
  query('mart.n', 'select id, count(*)::int as n from raw.e group by id', {
    reads: ['raw.e'],
    expose: ['id'],
  }),
]
