// An assistant as the protocol's own SDK makes one. It is loaded by name, so that all other tests compile in a checkout
// that was installed before it.

const SDK = '@modelcontextprotocol/sdk'

interface ToolResult {
  readonly content: readonly { readonly type: string; readonly text: string }[]
  readonly isError?: boolean
}

interface Assistant extends AsyncDisposable {
  getServerVersion(): { readonly name: string; readonly version: string } | undefined
  getServerCapabilities(): Readonly<Record<string, unknown>> | undefined
  getInstructions(): string | undefined
  ping(): Promise<unknown>
  listTools(): Promise<{ readonly tools: readonly Tool[] }>
  callTool(
    call: { readonly name: string; readonly arguments?: unknown },
    schema?: undefined,
    options?: { readonly signal?: AbortSignal },
  ): Promise<ToolResult>
  listResources(params?: { readonly cursor?: string }): Promise<{
    readonly resources: readonly { readonly uri: string; readonly name: string }[]
    readonly nextCursor?: string
  }>
  listResourceTemplates(): Promise<{ readonly resourceTemplates: readonly unknown[] }>
  readResource(params: { readonly uri: string }): Promise<{
    readonly contents: readonly { readonly uri: string; readonly text: string }[]
  }>
  listPrompts(): Promise<{ readonly prompts: readonly { readonly name: string }[] }>
  getPrompt(params: {
    readonly name: string
    readonly arguments?: Readonly<Record<string, string>>
  }): Promise<{
    readonly messages: readonly { readonly content: { readonly text: string } }[]
  }>
}

interface Tool {
  readonly name: string
  readonly inputSchema: object
  readonly annotations?: { readonly readOnlyHint?: boolean }
}

interface Transport {
  readonly pid?: number | null
}

async function connect(transport: Transport): Promise<Assistant> {
  const { Client } = (await import(`${SDK}/client/index.js`)) as {
    Client: new (info: object) => Assistant & {
      connect(to: Transport): Promise<void>
      close(): Promise<void>
    }
  }
  const client = new Client({ name: 'test', version: '1' })
  await client.connect(transport)
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.close() })
}

/** A process that the SDK starts, as assistants do. */
export async function overStdio(command: string, args: readonly string[]) {
  const { StdioClientTransport } = (await import(`${SDK}/client/stdio.js`)) as {
    StdioClientTransport: new (server: object) => Transport
  }
  const transport = new StdioClientTransport({ command, args, stderr: 'inherit' })
  const assistant = await connect(transport)
  return { assistant, pid: transport.pid! }
}

export async function overHttp(
  url: string,
  headers: Readonly<Record<string, string>> = {},
): Promise<Assistant> {
  const { StreamableHTTPClientTransport } = (await import(`${SDK}/client/streamableHttp.js`)) as {
    StreamableHTTPClientTransport: new (url: URL, options: object) => Transport
  }
  return await connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
  )
}

export const textOf = ({ content }: ToolResult): string => content.map(({ text }) => text).join('')
