import { resolve } from 'node:path'
import * as Args from '@oclif/core/args'
import * as Flags from '@oclif/core/flags'
import { BaseCommand, type FlagsOf } from '../cli/base-command.ts'
import { writeOut, wroteLine } from '../cli/write-out.ts'
import { EnvironmentError, UsageError } from '../core/failures.ts'
import { limits } from '../core/limits.ts'
import { isWebUrl } from '../project/urls.ts'

const languages = ['typescript', 'python'] as const

export default class Client extends BaseCommand {
  static override summary = 'Write a typed client for the published sets'
  static override examples = [
    '<%= config.bin %> client typescript --out src/shop.ts',
    '<%= config.bin %> client python --url https://data.shop.example/odata --out shop.py',
  ]
  static override flags = {
    url: Flags.string({
      summary: 'Root of a service that has the sets; by default the published state of the project',
    }),
    token: Flags.string({ summary: 'Token for that service (ODATA_TOKEN)', dependsOn: ['url'] }),
    out: Flags.string({ summary: 'The file; by default it is printed' }),
  }
  static override args = {
    language: Args.string({
      ignoreStdin: true,
      description: 'typescript or python',
      options: [...languages],
      required: true,
    }),
  }

  async run(): Promise<void> {
    const { args, flags } = await this.parse(Client)
    const language = args.language as (typeof languages)[number]
    const out = flags.out === undefined ? null : resolve(flags.out)
    const { text, source } = await this.#metadata(flags)
    const code = await codeIn(language, text, source).catch((error: unknown) => {
      // The program itself would be wrong about its own.
      if (flags.url === undefined || !(error instanceof Error)) throw error
      throw noMetadata(source, `it describes no sets: ${error.message}`)
    })
    if (out === null)
      return flags.json
        ? this.printEvent({ event: 'client', language, code })
        : this.print(code.trimEnd())
    await writeOut(out, code)
    if (flags.json) this.printEvent({ event: 'client', language, path: out })
    else this.print(wroteLine(out))
  }

  async #metadata(flags: FlagsOf<typeof Client>) {
    if (flags.url !== undefined) return await fetched(flags.url, flags.token)
    const project = await this.openProject(flags)
    const { openWithin } = await import('../odata/service.ts')
    const { openStore } = await import('../store/open.ts')
    const { serviceOptions } = await import('../wiring/service-options.ts')
    const { published } = openStore(project.paths)
    const logger = this.loggerFor({ ...flags, quiet: !flags.verbose })
    const gone = new AbortController().signal
    const asked = { root: 'http://127.0.0.1/odata/', gone }
    await using service = await openWithin({ ...serviceOptions(project, logger), published }, asked)
    if ((await service.seen()) === null)
      throw new UsageError('nothing is published yet', { hint: '"eider run" publishes' })
    const target = { target: '$metadata?$format=json', headers: {}, gone }
    const text = await service.get(target, async ({ body }) => {
      if (!Buffer.isBuffer(body)) throw new Error('the document is not written whole')
      return body.toString('utf8')
    })
    return { text, source: `the project "${project.name}"` }
  }
}

async function codeIn(language: (typeof languages)[number], text: string, source: string) {
  if (language === 'typescript') {
    const { typescriptClient } = await import('../typed-client/typescript.ts')
    return typescriptClient(text, source)
  }
  const { pythonClient } = await import('../typed-client/python.ts')
  return pythonClient(text, source)
}

async function fetched(url: string, token = process.env['ODATA_TOKEN']) {
  // What is no such URL may hold a password.
  if (!isWebUrl(url))
    throw new UsageError('--url is no URL of a service, or has a user in it', {
      hint: 'write one such as http://127.0.0.1:8090/odata, and the token with --token',
    })
  const root = url.replace(/\/+$/, '')
  const failure = (problem: string) => noMetadata(root, problem)
  try {
    const answer = await fetch(`${root}/$metadata?$format=json`, {
      headers: token === undefined ? {} : { Authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(limits.queryTimeoutMs),
    })
    if (!answer.ok) throw failure(`it answers ${answer.status}`)
    return { text: await answer.text(), source: root }
  } catch (error) {
    if (error instanceof EnvironmentError) throw error
    const { cause = error } = error as Error
    throw failure(cause instanceof Error ? cause.message : 'no answer')
  }
}

const noMetadata = (root: string, problem: string) =>
  new EnvironmentError('no-metadata', `${root}/$metadata: ${problem}`, {
    hint: 'name the root of a service that is running, and its token with --token',
  })
