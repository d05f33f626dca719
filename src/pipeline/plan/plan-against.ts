// What a project changes against the manifest of another state of it: `eider plan --against`. Neither a warehouse nor what
// is published is looked at, so that a pull request can be judged where there is none.

import { knownModels, select, type Selection } from '../../compiler/select.ts'
import { kinds } from '../../core/kinds.ts'
import type { CompiledProject, Model } from '../../core/model.ts'
import { foldCase, type ModelName, parseModelName } from '../../core/names.ts'
import type { PlannedStep } from '../../core/report/planned-changes.ts'
import { columnType } from '../../core/relation.ts'
import type { ExpectedRelation, Snapshot } from '../../core/snapshot.ts'
import { type Contents, editOf, goneFrom, type Manifest } from '../catalog/earlier-manifest.ts'
import {
  expectedRelation,
  nextPublication,
  columnChanges,
  nothingKnown,
} from './next-publication.ts'
import { uncompiledSteps } from './steps.ts'

interface PlanAgainst {
  readonly steps: readonly PlannedStep[]
  readonly published: Snapshot
  readonly next: readonly ExpectedRelation[]
  readonly removed: readonly string[]
}

/** Throws UsageError for a selector that can never match. */
export function planAgainst(
  project: CompiledProject,
  manifest: Manifest,
  contents: Contents,
  selection: Selection,
): PlanAgainst {
  const chosen = select(
    knownModels(project),
    selection,
    (model) => editOf(model, manifest, contents) !== null,
  )
  const published = publishedBy(manifest)
  const changed = new Set<ModelName>()
  const steps: PlannedStep[] = []
  for (const model of project.models.values()) {
    const step = stepOf(model, manifest, editOf(model, manifest, contents), changed)
    if (step.action === 'build') changed.add(model.name)
    if (chosen.has(model.name)) steps.push(step)
  }
  const others = uncompiledSteps({ chosen, project })
  const selected = new Set(steps.map(({ model }) => model.name))
  const records = new Map(
    [...project.models.keys()].flatMap((name) => {
      const before = manifest.models.get(foldCase(name))
      return before === undefined ? [] : [[name, before] as const]
    }),
  )
  const isAll = selection.include.length + selection.exclude.length === 0
  return {
    steps: [...steps, ...others.map((step) => ({ ...step, ...nothingKnown }))],
    published: withoutFailed(published, project),
    next: nextPublication(published, project.models, selected, records),
    removed: isAll ? goneFrom(project, manifest).map(({ name }) => name) : [],
  }
}

function stepOf(
  model: Model,
  manifest: Manifest,
  edit: string | null,
  changed: ReadonlySet<ModelName>,
): PlannedStep {
  const upstream = model.dependsOn.find((name) => changed.has(name))
  const because = edit ?? (upstream === undefined ? null : `upstream ${upstream} changed`)
  const before = manifest.models.get(foldCase(model.name))
  return {
    model,
    slice: 'whole',
    pieces: [],
    runs: kinds[model.kind].runs,
    action: because === null ? 'unchanged' : 'build',
    because: because ?? 'nothing changed',
    problem: null,
    diagnostics: [],
    warnings: [],
    ranges: [],
    notes: [],
    losses: [],
    ...nothingKnown,
    columns:
      before === undefined
        ? []
        : columnChanges(
            before.columns.map(({ name, type }) => ({ name, type: columnType(type) })),
            model.columns,
            false,
          ),
  }
}

/** The snapshot that a run of that state would have published. */
function publishedBy({ models }: Manifest): Snapshot {
  const relations = [...models.values()].flatMap((model) => {
    const name = parseModelName(model.name)
    if (name === null || model.entity_set === null) return []
    const { kind, description } = model
    const columns = model.columns.map(({ name: column, type, nullable }) => {
      return { name: column, type: columnType(type), nullable }
    })
    return [expectedRelation({ name, kind, description, columns }, model.key ?? [])]
  })
  return { id: '', publishedAt: new Date(0), runId: '', relations }
}

/** What is published of models that do not compile stays. */
function withoutFailed(published: Snapshot, { failed }: CompiledProject): Snapshot {
  const names = new Set([...failed.keys()].map(foldCase))
  const relations = published.relations.filter(({ model }) => !names.has(foldCase(model)))
  return { ...published, relations }
}
