// Relations that no file of the project creates any more, with the next steps.

import type { Orphan } from '../core/report/progress.ts'

export const orphanLines = (orphans: readonly Orphan[], width: number): readonly string[] =>
  orphans.map((orphan) => `orphan     ${orphan.model.padEnd(width)}  ${orphanState(orphan)}`)

export const orphanState = ({ model, rows }: Orphan): string =>
  `${sizeOf(rows)}, and ${wayOn(model)}`

/** Where the rows cannot be counted. */
export const wayOn = (model: string): string =>
  `no file makes it: eider mv ${model} NEW keeps it, eider drop ${model} removes it`

export const sizeOf = (rows: number | null): string =>
  rows === null ? 'a view' : `${rows} ${rows === 1 ? 'row' : 'rows'}`
