import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import { onStop } from '../../cli/signals.ts'
import { variableFlags } from '../../cli/shared-flags.ts'

export default class CollectDaemonCommand extends BaseCommand {
  static override summary = 'Collect events over HTTP and keep them until a run flushes them'
  static override examples = [
    '<%= config.bin %> collect daemon',
    '<%= config.bin %> collect daemon --port 9000',
  ]
  static override flags = {
    ...variableFlags,
    port: Flags.integer({ summary: 'Public port (COLLECT_PORT)' }),
    'admin-port': Flags.integer({
      summary: 'Port of the flush API, local only (COLLECT_ADMIN_PORT)',
    }),
    host: Flags.string({ summary: 'Address of the public port (COLLECT_HOST)' }),
    token: Flags.string({ summary: 'Token that senders must send (COLLECT_TOKEN)' }),
    'allow-anonymous': Flags.boolean({ summary: 'Open a port to other machines without a token' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(CollectDaemonCommand)
    using stop = onStop()
    const logger = this.serviceLoggerFor(flags)
    const load = () =>
      this.openProject(flags, {
        'collect.port': flags.port,
        'collect.admin_port': flags['admin-port'],
        'collect.host': flags.host,
        'collect.token': flags.token,
      })
    const { paths } = await load()
    const { ProjectWatch } = await import('../../project/watch.ts')
    const { compileTargets } = await import('../../wiring/collect/compile-targets.ts')
    await using watch = await ProjectWatch.open(paths.dir)
    // Read again, so that no change falls between the reading and the watching.
    const project = await load()
    const { signal } = stop
    /** null: stopped meanwhile. */
    const unlessStopped = <T>(work: Promise<T>): Promise<T | null> =>
      work.catch((error: unknown) => {
        if (!signal.aborted) throw error
        return null
      })
    const [compiled, { openEventBuffer }, { openDaemon }, { reloadTargets }] = await Promise.all([
      unlessStopped(compileTargets(project, signal)),
      // Loaded while another process compiles.
      import('../../wiring/claims.ts'),
      import('../../wiring/collect/open-daemon.ts'),
      import('../../wiring/collect/reload.ts'),
    ])
    if (compiled === null) return
    const { logDiagnostics } = await import('../../wiring/read-again.ts')
    const { targets, mistakes } = compiled
    logDiagnostics(mistakes, logger)
    await using buffer = await unlessStopped(
      openEventBuffer(project, { role: 'daemon', logger, signal }),
    )
    if (buffer === null) return
    const allowAnonymous = flags['allow-anonymous']
    await using daemon = await openDaemon(project, buffer, targets, { allowAnonymous, logger })
    watch.onChange(reloadTargets(daemon, { load, started: project, logger, signal }))
    if (flags.json)
      this.printEvent({ event: 'listening', url: daemon.url, admin_url: daemon.adminUrl })
    else this.print(`listening on ${daemon.url}`)
    await stop.asked
  }
}
