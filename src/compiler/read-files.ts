// The files of a project as models with headers and bodies, before anything that they name is looked up.

import { type Diagnostic, diagnostic } from '../core/diagnostics.ts'
import { foldCase, type ModelName } from '../core/names.ts'
import type { ModelFile, ProjectFiles, SeedFile } from '../core/project.ts'
import type { Variables } from '../core/variables.ts'
import { type KnownSeed, readSeed } from './bind/draft-seed.ts'
import type { NamedFile, Understanding } from './failed-models.ts'
import type { KeptModels } from './bind/draft.ts'
import { type ParsedModel, parseModelFile } from './model-file.ts'

/** What a compile finds, and which of it is about one model. */
export class Findings {
  readonly #all: Diagnostic[]
  readonly #byModel = new Map<ModelName, Diagnostic[]>()
  /** Those that were found in a model that no file has, and are said where it is asked for. */
  readonly #moved = new Set<Diagnostic>()
  readonly #rollups: ReadonlyMap<string, ModelFile>

  constructor({ models, problems = [] }: ProjectFiles) {
    this.#all = [...problems]
    const made = models.filter(({ rollup }) => rollup !== undefined)
    this.#rollups = new Map(made.map((file) => [file.source.path, file]))
  }

  /** Where a model has mistakes, its rollups have them too, and nobody wants to read them twice. */
  get all(): readonly Diagnostic[] {
    const isWrong = (path: string) =>
      this.#all.some(
        (item) => item.severity === 'error' && item.source.path === path && !this.#moved.has(item),
      )
    return this.#all.filter((item) => !this.#moved.has(item) || !isWrong(item.source.path))
  }

  add(items: readonly Diagnostic[]): void {
    this.#all.push(...items.map((item) => this.#asWritten(item)))
  }

  addTo(model: ModelName, items: readonly Diagnostic[]): void {
    if (items.length === 0) return
    const written = items.map((item) => this.#asWritten(item))
    this.#all.push(...written)
    this.#byModel.set(model, [...this.of(model), ...written])
  }

  #asWritten(item: Diagnostic): Diagnostic {
    const { rollup, name } = this.#rollups.get(item.source.path) ?? {}
    if (rollup === undefined) return item
    const moved = { ...item, ...rollup.place, message: `in the rollup ${name}, ${item.message}` }
    this.#moved.add(moved)
    return moved
  }

  of(model: ModelName): readonly Diagnostic[] {
    return this.#byModel.get(model) ?? []
  }
}

export const NO_VARIABLES: Variables = new Map()

/** The file of each name, by the name in lower case. */
export function uniqueNames(files: ProjectFiles, found: Findings): ReadonlyMap<string, NamedFile> {
  const seeds = files.seeds.map(({ name, path }) => ({ name, source: { path, text: '' } }))
  const names = new Map<string, NamedFile>()
  for (const { name, source } of [...files.models, ...(files.unreadable ?? []), ...seeds]) {
    const first = names.get(foldCase(name))
    if (first === undefined) names.set(foldCase(name), { name, source })
    else {
      const place = { source, span: { start: 0, end: 0 } }
      const hint = 'rename or delete one of the two'
      const other = first.source.path
      found.add([diagnostic('duplicate-model', { model: name, other }, place, hint)])
    }
  }
  return names
}

interface Parsing {
  readonly names: ReadonlyMap<string, NamedFile>
  readonly kept: KeptModels
  readonly found: Findings
}

export function parseAll(
  files: ProjectFiles,
  { names, kept, found }: Parsing,
): {
  readonly parsed: readonly ParsedModel[]
  readonly understood: ReadonlyMap<ModelName, Understanding>
} {
  const seed: Understanding = { kind: 'seed', tags: [], isExposed: false }
  const seeds = files.seeds.map(({ name }) => [name, seed] as const)
  const understood = new Map<ModelName, Understanding>(seeds)
  const parsed = files.models.flatMap((file) => {
    if (kept.has(file.name)) return []
    const { model, kind, isExposed, diagnostics } = parseModelFile(
      file,
      files.variables ?? NO_VARIABLES,
    )
    found.addTo(file.name, diagnostics)
    if (names.get(foldCase(file.name))?.source !== file.source) return []
    const tags = model?.header.tags?.value.map((tag) => tag.name) ?? []
    understood.set(file.name, { kind, tags, isExposed })
    return model === null ? [] : [model]
  })
  return { parsed, understood }
}

export async function readSeeds(
  seeds: readonly SeedFile[],
  dir: string,
  found: Findings,
): Promise<readonly KnownSeed[]> {
  const known: KnownSeed[] = []
  for (const file of seeds) {
    const seed = await readSeed(file, dir)
    found.addTo(file.name, 'code' in seed ? [seed] : seed.warnings)
    if (!('code' in seed)) known.push(seed)
  }
  return known
}
