import { BaseCommand } from '../cli/base-command.ts'
import { onStop } from '../cli/signals.ts'
import { isLoopback } from '../http/auth.ts'
import type { Project } from '../project/project.ts'
import { serviceOptions } from '../wiring/service-options.ts'

export default class Mcp extends BaseCommand {
  static override summary = 'Answer an assistant about the published sets, on stdin and stdout'
  static override description =
    'Assistants start it, see docs/guides/assistants.md. It speaks the Model Context Protocol and reads what is published, as "eider serve" does; for other people use "eider serve --mcp" with tokens.'
  static override examples = ['<%= config.bin %> mcp --project /srv/shop']

  async run(): Promise<void> {
    const { flags } = await this.parse(Mcp)
    using stop = onStop()
    const project = await this.openProject(flags)
    // Clients show what comes on stderr as errors.
    const logger = this.loggerFor({ ...flags, quiet: !flags.verbose })
    const { openWithin } = await import('../odata/service.ts')
    const { openStore } = await import('../store/open.ts')
    const { createCatalogReader } = await import('../explorer/catalog.ts')
    const { serveStreams } = await import('../mcp/over-stdio.ts')
    const { published } = openStore(project.paths)
    const options = { ...serviceOptions(project, logger), published }
    const asked = { root: rootOf(project), gone: stop.signal }
    await using service = await openWithin(options, asked)
    const assistant = {
      version: this.config.version,
      catalogOf: createCatalogReader({
        project: project.name,
        shows: 'project',
        find: (id) => published.catalog(id),
      }),
      onFailure: (error: unknown) => logger.error('assistant-failed', { error }),
    }
    const { stdin: input, stdout: output } = process
    await serveStreams(assistant, service, { input, output, stop: stop.signal })
  }
}

/** Where "eider serve" answers the same requests. */
function rootOf({ settings }: Project): string {
  const given = settings['odata.host']
  const host = isLoopback(given) ? given.replace(/^(.*:.*:.*)$/, '[$1]') : 'localhost'
  return `http://${host}:${settings['odata.port']}/odata/`
}
