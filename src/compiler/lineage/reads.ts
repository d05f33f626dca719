// What a query reads, by numbers: which places a part of it reads that is looked at, and those that its common table
// expressions read.

import type { SyntaxNode } from '../../duckdb/syntax.ts'
import type { Columns } from './scope.ts'

export class Reads {
  readonly #byNode = new Map<SyntaxNode, number>()
  /** What is read by the query that is looked at, and by those around it. */
  readonly #open: Set<number>[] = []
  /** What a common table expression reads, by its columns. */
  readonly #within = new Map<Columns, ReadonlySet<number>>()

  /** The number of the place, which `add` gives where it is new. */
  at(node: SyntaxNode, add: () => number): number {
    const use = this.#byNode.get(node) ?? add()
    this.#byNode.set(node, use)
    this.note([use])
    return use
  }

  has(node: SyntaxNode): boolean {
    return this.#byNode.has(node)
  }

  /** null: it was not looked at. */
  of(node: SyntaxNode): number | null {
    return this.#byNode.get(node) ?? null
  }

  /** The query that is looked at reads these, and so do those around it. */
  note(uses: Iterable<number>): void {
    for (const use of uses) for (const open of this.#open) open.add(use)
  }

  /** Finds the columns of a common table expression, and what it reads. */
  within(find: () => Columns): { readonly columns: Columns; readonly reads: ReadonlySet<number> } {
    const { found: columns, reads } = this.during(find)
    if (columns !== null) this.#within.set(columns, reads)
    return { columns, reads }
  }

  /** Finds something, and says what is read meanwhile. */
  during<T>(find: () => T): { readonly found: T; readonly reads: ReadonlySet<number> } {
    const reads = new Set<number>()
    this.#open.push(reads)
    const found = find()
    this.#open.pop()
    return { found, reads }
  }

  /** Of a common table expression whose columns were found. */
  inside(columns: Columns): ReadonlySet<number> {
    return this.#within.get(columns) ?? new Set()
  }
}
