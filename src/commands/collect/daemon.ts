import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { onStop } from '../../cli/signals.ts'

export default class CollectDaemonCommand extends BaseCommand {
  static override summary = 'Take events in over HTTP and keep them until a run has flushed them'
  static override examples = [
    '<%= config.bin %> collect daemon',
    '<%= config.bin %> collect daemon --port 9000',
  ]
  static override flags = {
    port: Flags.integer({ summary: 'Public port (COLLECT_PORT)' }),
    'admin-port': Flags.integer({
      summary: 'Port of the flush API, local only (COLLECT_ADMIN_PORT)',
    }),
    host: Flags.string({ summary: 'Address of the public port (COLLECT_HOST)' }),
    token: Flags.string({ summary: 'Token that senders must show (COLLECT_TOKEN)' }),
    'allow-anonymous': Flags.boolean({ summary: 'Open a port to other machines without a token' }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(CollectDaemonCommand)
    using stop = onStop()
    const logger = this.loggerFor(flags)
    const load = () =>
      this.openProject(flags, {
        'collect.port': flags.port,
        'collect.admin_port': flags['admin-port'],
        'collect.host': flags.host,
        'collect.token': flags.token,
      })
    const { paths, settings } = await load()
    const { ProjectWatch } = await import('../../project/watch.ts')
    const { compileTargets, reloadTargets } = await import('./reload.ts')
    const { openEventBuffer } = await import('../event-buffer.ts')
    const { CollectDaemon } = await import('../../collect/daemon.ts')
    await using watch = await ProjectWatch.open(paths.dir)
    // Read again, so that no change falls between the reading and the watching.
    const project = await load()
    const targets = await compileTargets(project)
    await using buffer = await openEventBuffer(project, {
      role: 'daemon',
      logger,
      signal: stop.signal,
    }).catch((error: unknown) => {
      if (!stop.signal.aborted) throw error
      return null
    })
    if (buffer === null) return
    await using daemon = await CollectDaemon.open({
      buffer,
      bufferDir: paths.buffer,
      targets,
      host: settings['collect.host'],
      port: settings['collect.port'],
      adminPort: settings['collect.admin_port'],
      token: settings['collect.token'],
      allowAnonymous: flags['allow-anonymous'],
      maxEventBytes: settings['collect.max_event_bytes'],
      maxBatchBytes: settings['collect.max_batch_bytes'],
      corsOrigins: settings['collect.cors_origins'],
      acceptTextPlain: settings['collect.accept_text_plain'],
      accessLog: settings['collect.access_log'],
      logger,
    })
    watch.onChange(() => reloadTargets(daemon, load, project, logger))
    if (flags.json)
      this.printEvent({ event: 'listening', url: daemon.url, admin_url: daemon.adminUrl })
    else this.print(`listening on ${daemon.url}`)
    await stop.asked
  }
}
