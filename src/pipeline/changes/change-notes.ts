// What builds say of what they change, until it is recorded (notes.ts).

import type { ModelName } from '../../core/names.ts'
import type { ClosedRange, TableChange } from '../../store/changes.ts'
import { ChangedKeys } from './changed-keys.ts'

/** By the names of the columns that others read by. */
export type ColumnValues = ReadonlyMap<string, readonly ClosedRange[]>

export const NO_VALUES: ColumnValues = new Map()

export interface Left {
  readonly inputs: readonly ModelName[]
  /** Values of the column by which it reads; null: all. */
  readonly ranges: readonly ClosedRange[] | null
  /** Where all are read, below which value an input may only have forgotten rows; null: it forgets none. */
  readonly least: string | null
}

interface NotedValues {
  readonly texts: Set<string | null>
  /** Whether the engine has more. */
  readonly hasMore: boolean
}

/** Those of the builds that are under way. */
export class ChangeNotes {
  /** For what is published. */
  readonly keys = new ChangedKeys()
  readonly #noted = new Map<ModelName, Map<string, readonly ClosedRange[]>>()

  /** Says that nothing of the column changed but these values, and what was said before. */
  add(model: ModelName, column: string, ranges: readonly ClosedRange[]): void {
    const of = this.#noted.get(model) ?? new Map<string, readonly ClosedRange[]>()
    this.#noted.set(model, of.set(column, [...(of.get(column) ?? []), ...ranges]))
  }

  readonly #values = new Map<ModelName, Map<string, NotedValues>>()

  /** Values that changes touch, as texts; null: they are many, and the engine has them. */
  addValues(model: ModelName, column: string, texts: readonly (string | null)[] | null): void {
    const of = this.#values.get(model) ?? new Map<string, NotedValues>()
    this.#values.set(model, of)
    const known = of.get(column) ?? { texts: new Set<string | null>(), hasMore: false }
    for (const text of texts ?? []) known.texts.add(text)
    of.set(column, { ...known, hasMore: known.hasMore || texts === null })
  }

  /** By column; from here on nothing is said of them. */
  takeValues(model: ModelName): ReadonlyMap<string, NotedValues> {
    const noted = this.#values.get(model)
    this.#values.delete(model)
    return noted ?? new Map<string, NotedValues>()
  }

  readonly #doubted = new Set<ModelName>()

  /** More has changed than is said of single values. */
  doubt(model: ModelName): void {
    this.#doubted.add(model)
  }

  takeDoubt(model: ModelName): boolean {
    return this.#doubted.delete(model)
  }

  readonly #losing = new Set<ModelName>()

  /** Rows of it go that nothing replaces, or they may. */
  lose(model: ModelName): void {
    this.#losing.add(model)
  }

  takeLost(model: ModelName): boolean {
    return this.#losing.delete(model)
  }

  readonly #left = new Map<ModelName, Left>()

  /** What a model reads again of inputs that have lost rows. */
  leave(reader: ModelName, left: Left): void {
    this.#left.set(reader, left)
  }

  takeLeft(reader: ModelName): Left | null {
    const left = this.#left.get(reader) ?? null
    this.#left.delete(reader)
    return left
  }

  readonly #warnings = new Map<ModelName, Set<string>>()
  readonly #planned: TableChange[] = []

  /** Something that the reader of a run should know of a build. */
  warn(model: ModelName, text: string): void {
    const of = this.#warnings.get(model) ?? new Set<string>()
    this.#warnings.set(model, of.add(text))
  }

  takeWarnings(model: ModelName): readonly string[] {
    const found = [...(this.#warnings.get(model) ?? [])]
    this.#warnings.delete(model)
    return found
  }

  /** What a plan has built in memory. */
  plan(change: TableChange): void {
    this.#planned.push(change)
  }

  readonly #forgotten = new Map<ModelName, ColumnValues>()

  /** What a plan has removed in memory, since it is too old. */
  planForgotten(model: ModelName, values: ColumnValues): void {
    this.#forgotten.set(model, values)
  }

  forgottenIn(model: ModelName, column: string): readonly ClosedRange[] {
    return this.#forgotten.get(model)?.get(column) ?? []
  }

  get planned(): readonly TableChange[] {
    return this.#planned
  }

  plannedVersion(model: ModelName): string | undefined {
    return this.#planned.findLast((change) => change.model === model)?.after
  }

  /** What was said; from here on nothing is. */
  take(model: ModelName): ReadonlyMap<string, readonly ClosedRange[]> {
    const noted = this.#noted.get(model)
    this.#noted.delete(model)
    return noted ?? new Map<string, readonly ClosedRange[]>()
  }
}
