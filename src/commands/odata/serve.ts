import cluster from 'node:cluster'
import { join } from 'node:path'
import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../../cli/base-command.ts'
import { onStop, type StopRequest } from '../../cli/signals.ts'
import { watchVariableFlags } from '../../cli/shared-flags.ts'
import { UsageError } from '../../core/failures.ts'
import { processors } from '../../core/machine.ts'
import { Resources } from '../../core/resources.ts'
import { readerTokens } from '../../wiring/reader-tokens.ts'
import { serviceOptions } from '../../wiring/service-options.ts'
import { packageDir } from '../../files/package.ts'
import { isLoopback } from '../../http/auth.ts'
import type { Logger } from '../../core/logger.ts'
import type { SideDoor } from '../../http/side-door.ts'
import { takeFreePort } from '../../http/listen.ts'
import type { SidePages } from '../../http/side-pages.ts'
import type { ODataServiceOptions } from '../../odata/service.ts'
import type { Project } from '../../project/project.ts'
import type { SnapshotReader } from '../../store/snapshot-reader.ts'
import type { Listening } from '../../workers/messages.ts'

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
    workers: Flags.string({ summary: 'Processes that answer, or auto: one per processor' }),
    watch: Flags.boolean({
      summary: 'Build models as they are saved, in a copy of the warehouse, and serve that',
    }),
  }

  async run(): Promise<void> {
    const directory = process.cwd()
    const { flags } = await this.parse(ODataServe)
    if (flags.watch && flags.workers !== undefined)
      throw new UsageError('--workers cannot be combined with --watch', {
        hint: 'what is saved is built and served by one process',
      })
    using stop = onStop()
    if (cluster.isWorker) return await this.#work(flags, stop)
    const load = this.#loading(flags, flags.port)
    const project = await load()
    const { 'odata.workers': asked } = project.settings
    const workers = asked === 'auto' ? processors() : asked
    if (workers > 1 && !flags.watch)
      return await this.#lead({ flags, stop, project, directory, workers })
    await using resources = new Resources()
    const listening = await this.#serve({ flags, stop, load, project, resources })
    this.#printListening(flags, listening)
    await stop.asked
  }

  #loading(flags: ServeFlags, port: number | undefined): () => Promise<Project> {
    return () =>
      this.openProject(flags, {
        'odata.port': port,
        'odata.host': flags.host,
        'odata.token': flags.token,
        'odata.page_size': flags['page-size'],
        // Without the flag the setting counts.
        'odata.mcp': flags.mcp || undefined,
        'odata.workers': flags.workers,
      })
  }

  /** Answers requests, until `resources` are disposed of. */
  async #serve({ flags, stop, load, project, resources, more = {} }: Serving): Promise<Listening> {
    const logger = this.serviceLoggerFor(flags)
    const { ODataService, requireOpenable } = await import('../../odata/service.ts')
    const { openStore } = await import('../../store/open.ts')
    const options = {
      ...serviceOptions(project, logger),
      linkSecret: project.settings['odata.secret'],
      linkSecretPath: linkSecretPath(project),
      allowAnonymous: flags['allow-anonymous'],
      tokens: await readerTokens(project),
      ...more,
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
    const { followTokens } = await import('../../wiring/follow-tokens.ts')
    resources.use(await followTokens(project, service, { load, logger }))
    const { url } = service
    return {
      url,
      explorerUrl: pages === null ? null : new URL('/', url).href,
      assistantsUrl: door === null ? null : new URL(door.path, url).href,
    }
  }

  /** This process is one of several that #lead() has started. */
  async #work(flags: ServeFlags, stop: StopRequest): Promise<void> {
    const { Member } = await import('../../workers/member.ts')
    const fellows = new Member()
    try {
      const { port, linkSecret, workers: processes } = await fellows.orders()
      const load = this.#loading(flags, port)
      const project = await load()
      await using resources = new Resources()
      const more = { linkSecret, processes, fellows }
      fellows.listens(await this.#serve({ flags, stop, load, project, resources, more }))
      await stop.asked
    } finally {
      fellows.leave()
    }
  }

  async #lead({ flags, stop, project, directory, workers }: Leading): Promise<void> {
    const { Workers } = await import('../../workers/lead.ts')
    const { openLinkSecret } = await import('../../odata/protocol/link-signature.ts')
    const { settings } = project
    const logger = this.serviceLoggerFor(flags)
    const secret = settings['odata.secret']
    const opened = await Workers.open({
      orders: {
        port: await takeFreePort({ host: settings['odata.host'], port: settings['odata.port'] }),
        linkSecret:
          secret ?? (await openLinkSecret(linkSecretPath(project), logger)).toString('hex'),
        workers,
      },
      program: {
        exec: join(packageDir, 'bin', 'run.js'),
        args: process.argv.slice(2),
        cwd: directory,
      },
      isTerminal: process.stderr.isTTY,
      onLog: (lines) => void process.stderr.write(lines),
      logger,
    })
    if ('exitCode' in opened) {
      process.exitCode = opened.exitCode
      return
    }
    await using running = opened
    this.#printListening(flags, running.listening)
    await Promise.race([stop.asked, running.failed])
  }

  #printListening(flags: ServeFlags, { url, explorerUrl, assistantsUrl }: Listening): void {
    if (flags.json) {
      const more = explorerUrl === null ? {} : { explorer_url: explorerUrl }
      const assistants = assistantsUrl === null ? {} : { mcp_url: assistantsUrl }
      return this.printEvent({ event: 'listening', url, ...more, ...assistants })
    }
    this.print(`listening on ${url}`)
    if (explorerUrl !== null) this.print(`explore at ${explorerUrl}`)
    if (assistantsUrl !== null) this.print(`assistants at ${assistantsUrl}`)
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

type ServeFlags = FlagsOf<typeof ODataServe>

interface Serving {
  readonly flags: ServeFlags
  readonly stop: StopRequest
  readonly load: () => Promise<Project>
  readonly project: Project
  readonly resources: Resources
  /** What one of several processes has in common with the others. */
  readonly more?: Pick<ODataServiceOptions, 'fellows' | 'processes'> & { linkSecret?: string }
}

interface Leading extends Omit<Serving, 'load' | 'resources' | 'more'> {
  /** Where the command was started. */
  readonly directory: string
  readonly workers: number
}

/** How much is told of how sets are made. */
const shownOf = ({ settings }: Project) =>
  settings['odata.explorer'] ?? (isLoopback(settings['odata.host']) ? 'project' : 'sets')

const linkSecretPath = ({ paths }: Project): string => join(paths.state, 'odata.secret')

async function explorerOf(project: Project, published: SnapshotReader): Promise<SidePages | null> {
  const { name } = project
  const shown = shownOf(project)
  if (shown === 'off') return null
  const { openExplorer } = await import('../../explorer/open-explorer.ts')
  const { readBoardsOf } = await import('../../project/files.ts')
  return await openExplorer({
    project: name,
    shows: shown,
    find: (id) => published.catalog(id),
    pageDir: join(packageDir, 'dist', 'explorer'),
    boards: () => readBoardsOf(project.paths.dir),
  })
}
