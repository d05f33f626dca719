import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { everyFlag } from '../cli/shared-flags.ts'
import { repeat } from '../cli/repeat.ts'
import { giveWay } from '../files/priority.ts'
import { duration, timeStamp } from '../cli/run-lines.ts'
import { count } from '../core/counts.ts'
import { onStop } from '../cli/signals.ts'
import { UsageError } from '../core/failures.ts'
import type { Pulled } from '../store/store.ts'

type PullFlags = FlagsOf<typeof Pull>

export default class Pull extends BaseCommand {
  static override summary = 'Copy the published state of a lake to this machine, for its service'
  static override examples = ['<%= config.bin %> pull', '<%= config.bin %> pull --every 5s']
  static override flags = { every: everyFlag('Keep running, and pull again at this interval') }

  async run(): Promise<void> {
    const { flags } = await this.parse(Pull)
    giveWay()
    using stop = onStop()
    const { signal } = stop
    const { paths, settings } = await this.openProject(flags)
    const { openStore } = await import('../store/open.ts')
    const { openPuller } = openStore(paths)
    if (openPuller === null)
      throw new UsageError(
        'this target publishes its files on this machine, so there is nothing to pull',
        {
          hint: 'services read them as they are; pull is for targets with "lake"',
        },
      )
    await using puller = await openPuller()
    const options = {
      retention: {
        snapshots: settings['odata.keep_snapshots'],
        ms: settings['odata.keep_minutes'] * 60_000,
      },
      takeUpMs: settings['odata.take_up_seconds'] * 1000,
      signal,
    }
    const pull = async () => {
      const startedMs = performance.now()
      const pulled = await puller.pull(options)
      const isNews = pulled.changed || pulled.files > 0 || pulled.missed.length > 0
      if (flags.every === undefined || isNews)
        this.#report(pulled, performance.now() - startedMs, flags)
    }
    if (flags.every === undefined) {
      await pull().catch((error: unknown) => {
        if (!signal.aborted) throw error
      })
      this.exit(stop.exitCode() ?? 0)
    }
    await repeat(pull, {
      everyMs: flags.every,
      signal,
      tell: (error) => this.showFailure(error, flags),
      isFailure: () => !signal.aborted,
    })
  }

  #report({ snapshot, changed, files, missed }: Pulled, ms: number, flags: PullFlags): void {
    const publishedAt = snapshot?.publishedAt.toISOString() ?? null
    if (flags.json) {
      const state = { snapshot: snapshot?.id ?? null, published_at: publishedAt }
      this.printEvent({ event: 'pulled', ...state, changed, files, missed, ms })
      return
    }
    if (flags.quiet) return
    const time = flags.every === undefined ? '' : `${timeStamp()} `
    const what =
      snapshot === null
        ? 'nothing is published yet'
        : changed
          ? `pulled snapshot ${snapshot.id}, published ${publishedAt}: ${count(files, 'file')} in ${duration(ms)}`
          : `snapshot ${snapshot.id} is here already${files === 0 ? '' : `; ${count(files, 'file')} made again`}`
    this.print(time + what)
    for (const id of missed) this.print(`${time}snapshot ${id} is no longer in the lake`)
  }
}
