import { BaseCommand } from '../../cli/base-command.ts'
import { againstFlag, selectionFlags, selectionOf, variableFlags } from '../../cli/shared-flags.ts'
import { orphanState, wayOn } from '../../cli/run-lines.ts'
import { showTable } from '../../cli/table.ts'
import type { Selection } from '../../compiler/select.ts'
import { type Diagnostic, DiagnosticsError } from '../../core/diagnostics.ts'
import type { CompiledProject, FailedModel, Model } from '../../core/model.ts'
import { entitySetName, foldCase } from '../../core/names.ts'
import type { OlderRows } from '../../core/step.ts'
import type { Orphan } from '../../core/report/progress.ts'
import type { Manifest } from '../../pipeline/catalog/earlier-manifest.ts'
import type { TableWay } from '../../pipeline/changes/kept-tables.ts'
import type { Project } from '../../project/project.ts'
import { readManifest } from '../../wiring/read-manifest.ts'
import { openToRead } from '../../wiring/reading.ts'
import { readUnchanged, type Unchanged } from '../../wiring/unchanged.ts'

export default class PipelineLs extends BaseCommand {
  static override summary =
    'List the models: kind, tags, entity set, whether a run would build them'
  static override examples = ['<%= config.bin %> ls', '<%= config.bin %> ls +mart.sales --json']
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = { ...selectionFlags, ...againstFlag, ...variableFlags }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(PipelineLs)
    const against = await readManifest(flags.against, process.cwd())
    const project = await this.openProject(flags)
    const asked = { ...selectionOf(argv, flags), against }
    const unchanged = against === undefined ? await readUnchanged(project, true) : null
    const { rows, mistakes } =
      unchanged?.note == null
        ? await readRows(project, asked, unchanged?.compiled)
        : { rows: await unchangedRows(unchanged.compiled, unchanged.note, asked), mistakes: [] }
    if (flags.json) {
      for (const row of rows)
        this.printEvent({ event: 'model', ...row, way: row.way?.text ?? null })
    } else {
      const shown = rows.map(({ model, kind, tags, entity_set: set, state, way }) => {
        return {
          model,
          kind,
          tags: tags.join(', '),
          entity_set: set ?? '',
          state,
          way: way?.is ?? '',
        }
      })
      this.print(showTable(['model', 'kind', 'tags', 'entity_set', 'state', 'way'], shown))
      for (const { model, older_rows: older } of rows)
        if (older !== undefined) this.print(`older rows of ${model}: ${older.ways}`)
    }
    if (mistakes.length > 0) this.showFailure(new DiagnosticsError(mistakes), flags)
    if (flags.json) this.printEvent({ event: 'ls-finished', models: rows.length })
    if (mistakes.length > 0) this.exit(1)
  }
}

interface Row {
  readonly model: string
  readonly kind: string
  readonly tags: readonly string[]
  readonly entity_set: string | null
  readonly state: string
  /** Whether runs update a table or rebuild it, and why. null for all else. */
  readonly way: TableWay | null
  readonly older_rows?: OlderRows
}

interface Listed {
  readonly rows: readonly Row[]
  /** In no row: which models are missing because of them is not known. */
  readonly mistakes: readonly Diagnostic[]
}

interface Asked extends Selection {
  readonly against: Manifest | undefined
}

async function readRows(
  project: Project,
  asked: Asked,
  compiled: CompiledProject | undefined,
): Promise<Listed> {
  const { editOf } = await import('../../pipeline/catalog/earlier-manifest.ts')
  const { isModified } = await import('../../pipeline/plan/decide.ts')
  const { mistakesOfNoModel } = await import('../../compiler/mistakes.ts')
  const { knownModels, select } = await import('../../compiler/select.ts')
  const { readSteps } = await import('../../pipeline/plan/show-changes.ts')
  const { readOrphans } = await import('../../pipeline/orphans.ts')
  const { uncompiledSteps } = await import('../../pipeline/plan/steps.ts')
  const { NO_SOURCES, readSourceAges } = await import('../../pipeline/plan/source-age.ts')
  const { wayOf } = await import('../../pipeline/changes/kept-tables.ts')
  const how = { orLastState: true, keepsCompiled: true, compiled }
  await using reading = await openToRead(project, how)
  const { external } = reading.project
  const { context, steps } = await readSteps({ ...reading, paths: project.paths }, reading)
  const all = knownModels(reading.project)
  const { against } = asked
  const isEdited = (model: Model) =>
    against === undefined
      ? isModified(model, context)
      : editOf(model, against, context.fileHashes) !== null
  const selected = select(all, asked, isEdited)
  const shown = [...steps, ...uncompiledSteps(context)].filter(({ model }) =>
    selected.has(model.name),
  )
  const read = new Set(shown.flatMap(({ model }) => model.sources))
  const tables = (external?.tables ?? []).filter(
    ({ name }) => selected.size === all.size || read.has(name),
  )
  const unread = tables.filter(({ name }) => !context.sourceAges.has(name))
  const others = await readSourceAges(
    reading.connection,
    unread,
    external ?? NO_SOURCES,
    context.startedAt,
  )
  const sources = tables.map(({ name, path }) => {
    const age = context.sourceAges.get(name) ?? others.get(name)
    return plainRow({ model: name, kind: 'source' }, age?.text ?? path)
  })
  // What is published of a model that does not compile is still served.
  const isServed = shown.some(({ model }) => !('expose' in model))
  const served = isServed ? await reading.store.snapshots.current() : null
  const servedNames = new Set(served?.relations.map(({ model }) => foldCase(model)))
  const isExposed = (model: Model | FailedModel) =>
    'expose' in model
      ? model.expose !== null
      : model.isExposed || servedNames.has(foldCase(model.name))
  const planned = shown.map(({ model, because, problem, older }) => {
    const way = 'expose' in model ? wayOf(reading.project, model) : null
    return rowOf(model, isExposed(model), { state: problem ?? because, way, older })
  })
  const isAll = selected.size === all.size
  const found = isAll ? await readOrphans(context, reading.project) : []
  const stateOf = (orphan: Orphan) => (reading.isLastState ? wayOn(orphan) : orphanState(orphan))
  const orphans = found.map((orphan) => plainRow(orphan, stateOf(orphan)))
  return {
    rows: [...sources, ...planned, ...orphans],
    mistakes: isAll ? mistakesOfNoModel(reading.project) : [],
  }
}

/** The same rows where a run would find nothing to do, and the project has no sources. */
async function unchangedRows(
  project: CompiledProject,
  note: NonNullable<Unchanged['note']>,
  asked: Asked,
): Promise<readonly Row[]> {
  const { models } = project
  const { select } = await import('../../compiler/select.ts')
  const { wayOf } = await import('../../pipeline/changes/kept-tables.ts')
  const selected = select(models, asked, () => false)
  const results = new Map(note.models.map((result) => [result.model, result]))
  const rows = [...models.values()]
    .filter(({ name }) => selected.has(name))
    .map((model) => {
      const { because, older_rows: older } = results.get(model.name)!
      const way = wayOf(project, model)
      return rowOf(model, model.expose !== null, { state: because, way, older })
    })
  const orphans = selected.size === models.size ? note.orphans : []
  return [...rows, ...orphans.map((orphan) => plainRow(orphan, orphanState(orphan)))]
}

const rowOf = (
  { name, kind, tags }: Model | FailedModel,
  isExposed: boolean,
  { state, way, older }: Pick<Row, 'state' | 'way'> & { readonly older: OlderRows | undefined },
): Row => ({
  model: name,
  kind: kind ?? '',
  tags,
  entity_set: isExposed ? entitySetName(name) : null,
  state: older === undefined ? state : `${state}; ${older.text}`,
  way,
  ...(older === undefined ? {} : { older_rows: older }),
})

/** The row of a model that is neither tagged nor exposed. */
const plainRow = ({ model, kind }: Pick<Row, 'model' | 'kind'>, state: string): Row => ({
  model,
  kind,
  tags: [],
  entity_set: null,
  state,
  way: null,
})
