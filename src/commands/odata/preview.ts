import { randomUUID } from 'node:crypto'
import { request, type IncomingMessage } from 'node:http'
import { pipeline } from 'node:stream/promises'
import { text } from 'node:stream/consumers'
import { BaseCommand, toStderr } from '../../cli/base-command.ts'
import { argument, optionalArgument, variableFlags } from '../../cli/shared-flags.ts'
import { UsageError } from '../../core/failures.ts'
import { Resources } from '../../core/resources.ts'
import { serviceOptions } from '../../wiring/service-options.ts'
import { queriedSnapshot } from '../../report/queried-snapshot.ts'

export default class ODataPreview extends BaseCommand {
  static override summary =
    'Answer one OData query without a server, even on a model that is not exposed'
  static override examples = [
    '<%= config.bin %> odata preview mart_sales',
    `<%= config.bin %> odata preview staging.orders '?$filter=amount gt 100&$top=5'`,
  ]
  static override flags = { ...variableFlags }
  static override args = {
    resource: argument('Entity set or model; a key or a path may follow it'),
    query: optionalArgument('Query options, with ? before them'),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(ODataPreview)
    const project = await this.openProject(flags)
    const { ODataService } = await import('../../odata/service.ts')
    await using resources = new Resources()
    const { target, published } = await queriedSnapshot(project, args, resources)
    const token = randomUUID()
    let failure: unknown = null
    const logger = this.loggerFor({ ...flags, quiet: !flags.verbose }, (text, line) => {
      // Nobody reads a log of one request: why it failed is what the command fails with.
      if (line.event === 'request-failed') failure = line.fields['error']
      else toStderr(text, line)
    })
    // A separate service for one request: the answer is the one that a client would get.
    const service = resources.use(
      await ODataService.open({
        ...serviceOptions(project, logger),
        published,
        host: '127.0.0.1',
        port: 0,
        token,
      }),
    )
    const answer = await ask(`${service.url}/${target}`, {
      Authorization: `Bearer ${token}`,
      Host: `127.0.0.1:${project.settings['odata.port']}`,
    })
    if (answer.statusCode !== 200 && answer.statusCode !== 204) throw await refusal(answer, failure)
    await pipeline(answer, process.stdout, { end: false }).catch((error: unknown) => {
      throw failure instanceof Error ? failed(failure) : error
    })
    process.stdout.write('\n')
  }
}

function ask(url: string, headers: Readonly<Record<string, string>>): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    request(url, { headers }, resolve).on('error', reject).end()
  })
}

const failed = ({ message }: Error) => new UsageError(`the request failed: ${message}`)

async function refusal(answer: IncomingMessage, failure: unknown): Promise<UsageError> {
  const { error } = JSON.parse(await text(answer)) as { error: { message: string } }
  if (failure instanceof Error) return failed(failure)
  // What the service cannot do now is not the fault of the query.
  if ((answer.statusCode ?? 0) >= 500) return new UsageError(error.message)
  return new UsageError(error.message, {
    hint: 'docs/odata/queries.md lists what a query can contain',
  })
}
