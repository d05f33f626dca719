import os from 'node:os'
import { join } from 'node:path'
import { Flags } from '@oclif/core'
import { BaseCommand } from '../../cli/base-command.ts'
import { onStop } from '../../cli/signals.ts'

/** Beside the current state, earlier ones stay open for next links. */
function quarterOfMemory(): string {
  return `${Math.floor(os.totalmem() / 4 / 2 ** 20)}MiB`
}

export default class ODataServe extends BaseCommand {
  static override summary = 'Answer OData queries from the published snapshot'
  static override examples = ['<%= config.bin %> serve', '<%= config.bin %> serve --port 9090']
  static override flags = {
    port: Flags.integer({ summary: 'Port (ODATA_PORT)' }),
    host: Flags.string({ summary: 'Address (ODATA_HOST)' }),
    token: Flags.string({ summary: 'Token that clients must show (ODATA_TOKEN)' }),
    'allow-anonymous': Flags.boolean({
      summary: 'Open the port to other machines without a token',
    }),
    'page-size': Flags.integer({ summary: 'Rows of a page', min: 1 }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(ODataServe)
    using stop = onStop()
    const { paths, settings } = await this.openProject(flags, {
      'odata.port': flags.port,
      'odata.host': flags.host,
      'odata.token': flags.token,
      'odata.page_size': flags['page-size'],
    })
    const { ODataService } = await import('../../odata/service.ts')
    await using service = await ODataService.open({
      snapshotsDir: paths.snapshots,
      host: settings['odata.host'],
      port: settings['odata.port'],
      token: settings['odata.token'],
      allowAnonymous: flags['allow-anonymous'],
      pageSize: settings['odata.page_size'],
      requestTimeoutMs: settings['odata.request_timeout_ms'],
      maxBatchRequests: settings['odata.max_batch_requests'],
      memoryLimit: settings['odata.memory_limit'] ?? quarterOfMemory(),
      tempDir: join(paths.state, 'tmp'),
      logger: this.loggerFor(flags),
    })
    if (flags.json) this.printEvent({ event: 'listening', url: service.url })
    else this.print(`listening on ${service.url}`)
    await stop.asked
  }
}
