import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../cli/base-command.ts'
import { onStop } from '../cli/signals.ts'
import { waitFlag } from '../cli/shared-flags.ts'
import { tableLines } from '../cli/table.ts'
import { count } from '../core/counts.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import type { TableUpkeep, UpkeepReport } from '../store/store.ts'

export default class Maintain extends BaseCommand {
  static override summary = 'Give disks back what is old and unused'
  static override description =
    'Of a lake, it merges small files and deletes old states and unused objects: once a day from any machine whose key can delete objects. Flushes, services and queries continue meanwhile. Of a warehouse in a file, it makes the file as small as what is in it.'
  static override examples = ['<%= config.bin %> maintain --dry-run', '<%= config.bin %> maintain']
  static override flags = {
    'dry-run': Flags.boolean({ summary: 'Show what would be dropped; change nothing' }),
    migrate: Flags.boolean({
      summary: 'First migrate a catalog of an earlier version',
    }),
    wait: waitFlag('Seconds to wait for a run to end'),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(Maintain)
    // Not given, a flag is undefined, whatever its type says.
    const [dryRun, migrate] = [Boolean(flags['dry-run']), Boolean(flags.migrate)]
    if (dryRun && migrate)
      throw new UsageError('--dry-run changes nothing, and --migrate does', {
        hint: 'use only one of them',
      })
    using stop = onStop()
    const project = await this.openProject(flags)
    const { openStore } = await import('../store/open.ts')
    const { upkeep, compaction, warehouse } = openStore(project.paths)
    const place = upkeep === null ? 'warehouse' : 'lake'
    if (upkeep === null && migrate)
      throw new UsageError('--migrate is for a lake, and the tables of this target are in a file', {
        hint: 'leave it out, or give the --target whose tables are in a lake',
      })
    // A catalog of an earlier version cannot be read.
    if (!migrate && !(await warehouse.exists()))
      throw new EnvironmentError('warehouse-missing', `there is no ${place} yet`, {
        hint: 'eider run creates it',
      })
    const options = { dryRun, migrate, waitMs: flags.wait * 1000, signal: stop.signal }
    if (upkeep === null) {
      const { runOptionsOf } = await import('../wiring/run-options.ts')
      const { waitMs } = options
      const opening = { ...runOptionsOf(project), ...options, lockWaitMs: waitMs }
      const bytes = await compaction!.compact(opening)
      return this.#printBytes(bytes, dryRun, flags.json)
    }
    const report = await upkeep.maintain(options)
    if (flags.json) this.printEvent({ event: 'maintained', dry_run: dryRun, ...inJson(report) })
    else this.#print(report, dryRun, flags.quiet)
  }

  #printBytes(
    { before, after }: { readonly before: number; readonly after: number },
    dryRun: boolean,
    json: boolean,
  ): void {
    if (json) {
      const bytes = { bytes_before: before, bytes_after: after }
      return this.printEvent({ event: 'compacted', dry_run: dryRun, ...bytes })
    }
    const would = dryRun ? 'would have' : 'has'
    const freed = before > after ? `, ${count(before - after, 'byte')} less` : ''
    this.print(`the warehouse ${would} ${count(after, 'byte')}${freed}`)
  }

  #print(report: UpkeepReport, dryRun: boolean, quiet: boolean): void {
    const lines = tableLines(report.tables.map((table) => [table.table, filesText(table, dryRun)]))
    const changed = (table: TableUpkeep) => table.busy || table.filesBefore !== table.filesAfter
    for (const [i, table] of report.tables.entries())
      if (dryRun ? table.filesBefore > 0 : changed(table) && !quiet) this.print(lines[i]!)
    const { statesDropped, statesKept, filesDeleted } = report
    const states = `${count(statesDropped, 'old state')}, ${count(filesDeleted, 'unused file')}`
    this.print(`${dryRun ? 'would drop' : 'dropped'} ${states}; ${statesKept} states are kept`)
  }
}

function filesText({ filesBefore, filesAfter, bytes, busy }: TableUpkeep, dryRun: boolean): string {
  if (dryRun) return `${count(filesBefore, 'file')}, ${count(bytes, 'byte')}`
  const merged = `${count(filesBefore, 'file')} became ${filesAfter}`
  if (!busy) return merged
  const left = 'changed by others meanwhile; the next maintain takes the rest'
  return filesBefore === filesAfter ? left : `${merged}; ${left}`
}

const inJson = ({ tables, ...totals }: UpkeepReport) => ({
  tables: tables.map(({ table, filesBefore, filesAfter, bytes, busy }) => ({
    table,
    files_before: filesBefore,
    files_after: filesAfter,
    bytes,
    busy,
  })),
  states_dropped: totals.statesDropped,
  states_kept: totals.statesKept,
  files_deleted: totals.filesDeleted,
  records_deleted: totals.recordsDeleted,
})
