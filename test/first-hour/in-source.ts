// Mistakes in a file that a source names.

import type { Changes, Mistake, Step } from './mistake.ts'

/** A source f of one table t in this file or pattern, and a model that takes all of it over. */
export const read = (file: string, files: Changes, more: readonly string[] = []): Changes => ({
  'eider.yml': [
    'name: shop',
    'sources:',
    '  f:',
    '    tables:',
    '      t:',
    `        file: ${file}`,
    ...more.map((line) => `        ${line}`),
    '',
  ].join('\n'),
  'models/core/t.sql': 'SELECT * FROM f.t\n',
  ...files,
})

export const run = ['run', 'core.t']

export const inSource = (
  id: string,
  mistake: string,
  files: Changes,
  eider: readonly string[],
  after: readonly Step[] = [],
): Pick<Mistake, 'id' | 'mistake' | 'files' | 'ask'> => ({
  id,
  mistake,
  files,
  ask: { eider, after },
})
