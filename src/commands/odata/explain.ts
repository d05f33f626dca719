import { BaseCommand } from '../../cli/base-command.ts'
import { argument, optionalArgument, variableFlags } from '../../cli/shared-flags.ts'
import { UsageError } from '../../core/failures.ts'
import { Resources } from '../../core/resources.ts'
import { RequestError } from '../../http/request-error.ts'
import { serviceOptions } from '../../wiring/service-options.ts'
import { queriedSnapshot } from '../../report/queried-snapshot.ts'

export default class ODataExplain extends BaseCommand {
  static override summary = 'Show how an OData query is interpreted, and its SQL'
  static override examples = [
    `<%= config.bin %> odata explain 'mart_sales?$filter=amount gt 100'`,
    `<%= config.bin %> odata explain 'core.orders(10)/customer' --json`,
  ]
  static override flags = { ...variableFlags }
  static override args = {
    resource: argument('Entity set or model; a key, a path and query options may follow it'),
    query: optionalArgument('Query options, with ? before them'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ODataExplain)
    const project = await this.openProject(flags)
    const { explainRequest } = await import('../../odata/answer/explain.ts')
    await using resources = new Resources()
    const { target, published } = await queriedSnapshot(project, args, resources)
    const logger = this.loggerFor({ ...flags, quiet: !flags.verbose })
    const options = { ...serviceOptions(project, logger), published }
    const { bound, request, statements } = await explainRequest(target, options).catch(refuse)
    if (flags.json) return this.printEvent({ event: 'explained', target, request, statements })
    const parts = [bound, ...statements.map(({ what, sql }) => `-- ${what}\n${sql};`)]
    this.print(`${parts.join('\n\n')}\n`)
  }
}

function refuse(error: unknown): never {
  if (!(error instanceof RequestError)) throw error
  throw new UsageError(error.message, {
    hint: 'docs/odata/queries.md lists what a query can contain',
  })
}
