import { BaseCommand } from '../../cli/base-command.ts'
import { selectionFlags, selectionOf } from '../../cli/selection.ts'
import { variableFlags } from '../../cli/variable-flags.ts'
import { showRows } from '../../cli/show-rows.ts'
import { lineOf } from '../../core/diagnostics.ts'
import { entitySetName } from '../../core/names.ts'
import { openToRead } from '../reading.ts'

export default class PipelineLs extends BaseCommand {
  static override summary =
    'List the models: kind, tags, entity set, whether a run would build them'
  static override examples = ['<%= config.bin %> ls', '<%= config.bin %> ls +mart.sales --json']
  static override strict = false
  static override usage = '[SELECTOR...] [FLAGS]'
  static override flags = { ...selectionFlags, ...variableFlags }

  async run(): Promise<void> {
    const { flags, argv } = await this.parse(PipelineLs)
    const project = await this.openProject(flags)
    const { isModified, plan } = await import('../../pipeline/plan/decide.ts')
    const { allModels, select } = await import('../../compiler/select.ts')
    const { readStanding, situationOf } = await import('../../pipeline/plan/show-changes.ts')
    const { readFreshness, sourcesRead } = await import('../../pipeline/plan/source-age.ts')
    await using reading = await openToRead(project)
    const { models, external } = reading.project
    const standing = await readStanding(reading.connection, project.paths.dir, reading.project)
    const given = { fullRefresh: false, withNewEvents: reading.withNewEvents }
    const situation = situationOf(standing, given)
    const selection = selectionOf(argv, flags)
    const all = allModels(reading.project)
    const selected = select(all, selection, (model) => isModified(model, situation))
    const read = sourcesRead(models, selected)
    const tables = (external?.tables ?? []).filter(
      ({ name }) => selected.size === all.size || read.has(name),
    )
    const freshness = await readFreshness(reading.connection, tables, external?.away, new Date())
    const sources = tables.map(({ name, path }) => ({
      model: name,
      kind: 'source',
      tags: [],
      entity_set: null,
      state: freshness.get(name)?.text ?? path,
    }))
    const planned = plan(models.values(), situation)
      .steps.filter(({ model }) => selected.has(model.name))
      .map(({ model, because }) => ({
        model: model.name,
        kind: model.kind,
        tags: model.tags,
        entity_set: model.expose === null ? null : entitySetName(model.name),
        state: because,
      }))
    const failed = [...reading.project.failed.values()]
      .filter(({ name }) => selected.has(name))
      .map(({ name, kind, tags, mistakes: [first], failedBy }) => ({
        model: name,
        kind: kind ?? '',
        tags,
        entity_set: null,
        state: first === undefined ? `${failedBy} does not compile` : lineOf(first),
      }))
    const rows = [...sources, ...planned, ...failed]
    if (flags.json) for (const row of rows) this.printEvent(row)
    else {
      const shown = rows.map(({ tags, entity_set: set, ...row }) => ({
        ...row,
        tags: tags.join(', '),
        entity_set: set ?? '',
      }))
      this.print(showRows(['model', 'kind', 'tags', 'entity_set', 'state'], shown, 'table'))
    }
  }
}
