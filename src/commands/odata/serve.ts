import { join } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand } from '../../cli/base-command.ts'
import { onStop } from '../../cli/signals.ts'
import { watchVariableFlags } from '../../cli/shared-flags.ts'
import { Resources } from '../../core/resources.ts'
import { readerTokens } from '../../wiring/reader-tokens.ts'
import { serviceOptions } from '../../wiring/service-options.ts'
import { packageDir } from '../../files/package.ts'
import { isLoopback } from '../../http/auth.ts'
import type { Logger } from '../../core/logger.ts'
import type { SideDoor } from '../../http/side-door.ts'
import type { SidePages } from '../../http/side-pages.ts'
import type { Project } from '../../project/project.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'

export default class ODataServe extends BaseCommand {
  static override summary = 'Answer OData queries from the published snapshot'
  static override examples = ['<%= config.bin %> serve', '<%= config.bin %> serve --port 9090']
  static override flags = {
    ...watchVariableFlags,
    port: Flags.integer({ summary: 'Port (ODATA_PORT)' }),
    host: Flags.string({ summary: 'Address (ODATA_HOST)' }),
    token: Flags.string({ summary: 'Token that clients must send (ODATA_TOKEN)' }),
    'allow-anonymous': Flags.boolean({
      summary: 'Open the port to other machines without a token',
    }),
    'page-size': Flags.integer({ summary: 'Rows per page', min: 1 }),
    mcp: Flags.boolean({ summary: 'Answer assistants at /mcp, by the Model Context Protocol' }),
    watch: Flags.boolean({
      summary: 'Build models as they are saved, in a copy of the warehouse, and serve that',
    }),
  }

  async run(): Promise<void> {
    const { flags } = await this.parse(ODataServe)
    using stop = onStop()
    const load = () =>
      this.openProject(flags, {
        'odata.port': flags.port,
        'odata.host': flags.host,
        'odata.token': flags.token,
        'odata.page_size': flags['page-size'],
        // Without the flag the setting counts.
        'odata.mcp': flags.mcp || undefined,
      })
    const project = await load()
    const logger = this.serviceLoggerFor(flags)
    const { ODataService, requireOpenable } = await import('../../odata/service.ts')
    const { openStore } = await import('../../store/open.ts')
    await using resources = new Resources()
    const options = {
      ...serviceOptions(project, logger),
      linkSecret: project.settings['odata.secret'],
      linkSecretPath: join(project.paths.state, 'odata.secret'),
      allowAnonymous: flags['allow-anonymous'],
      tokens: await readerTokens(project),
    }
    let { published } = openStore(project.paths)
    if (flags.watch) {
      await requireOpenable({ ...options, published })
      const { openSavedModels } = await import('../../wiring/saved-models.ts')
      const saved = resources.use(await openSavedModels({ load, logger, signal: stop.signal }))
      published = saved.published
    }
    const pages = await explorerOf(project, published)
    const door = await this.#doorOf(project, published, logger)
    const service = resources.use(await ODataService.open({ ...options, published, pages, door }))
    if (options.tokens.length > 0) {
      const { followTokens } = await import('../../wiring/follow-tokens.ts')
      resources.use(await followTokens(project, service, { load, logger }))
    }
    const { url } = service
    const explorer = new URL('/', url).href
    if (flags.json) {
      const more = pages === null ? {} : { explorer_url: explorer }
      const assistants = door === null ? {} : { mcp_url: new URL(door.path, url).href }
      this.printEvent({ event: 'listening', url, ...more, ...assistants })
    } else {
      this.print(`listening on ${url}`)
      if (pages !== null) this.print(`explore at ${explorer}`)
      if (door !== null) this.print(`assistants at ${new URL(door.path, url).href}`)
    }
    await stop.asked
  }

  /** null unless assistants are to be answered. */
  async #doorOf(
    project: Project,
    published: SnapshotReader,
    logger: Logger,
  ): Promise<SideDoor | null> {
    const { name, settings } = project
    if (!settings['odata.mcp']) return null
    const { openDoor } = await import('../../mcp/over-http.ts')
    const { createCatalogReader } = await import('../../explorer/catalog.ts')
    const shown = shownOf(project)
    return openDoor({
      version: this.config.version,
      origins: settings['odata.cors_origins'],
      catalogOf: createCatalogReader({
        project: name,
        shows: shown === 'off' ? 'sets' : shown,
        find: (id) => published.catalog(id),
      }),
      onFailure: (error) => logger.error('assistant-failed', { error }),
    })
  }
}

/** How much is told of how sets are made. */
const shownOf = ({ settings }: Project) =>
  settings['odata.explorer'] ?? (isLoopback(settings['odata.host']) ? 'project' : 'sets')

/** null where there is to be no page. */
async function explorerOf(project: Project, published: SnapshotReader): Promise<SidePages | null> {
  const { name } = project
  const shown = shownOf(project)
  if (shown === 'off') return null
  const { openExplorer } = await import('../../explorer/open-explorer.ts')
  return await openExplorer({
    project: name,
    shows: shown,
    find: (id) => published.catalog(id),
    pageDir: join(packageDir, 'dist', 'explorer'),
  })
}
