// npm run demo: the main job on a copy of example-project. Events in over HTTP, a run, answers over OData.

import { startDaemon } from './support/daemon-process.ts'
import { cp, readFile, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { repository, workspace } from './support/workspace.ts'

await using space = await workspace()
await cp(join(repository, 'example-project'), space.dir, { recursive: true })

{
  await using daemon = await startDaemon(space, '--quiet')
  say(`eider collect daemon    ${daemon.url}`)
  for (const file of (await readdir(space.path('events'))).toSorted()) {
    const path = `/collect/${file.replace(/\.ndjson$/, '').replace('.', '/')}/batch`
    const answer = await post(daemon.url + path, await readFile(space.path('events', file)))
    say(`POST ${path}    ${answer}`)
  }
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  say('\neider run')
  say((await space.ok(['run'], { env })).stdout)
  await daemon.stop()
}

{
  await using service = await space.start(['serve', '--port', '0', '--quiet'])
  say(`eider serve    ${service.url}`)
  for (const query of [
    '/mart_daily_revenue?$orderby=revenue desc&$top=3',
    "/core_orders/$count?$filter=status eq 'paid'",
    '/core_customers(1)?$select=name,country',
  ]) {
    const response = await fetch(encodeURI(service.url + query))
    say(`\nGET ${query}    ${response.status}\n${await response.text()}`)
    if (!response.ok) process.exitCode = 1
  }
  await service.stop()
}

async function post(url: string, body: Uint8Array<ArrayBuffer>): Promise<string> {
  const response = await fetch(url, {
    method: 'POST',
    headers: { 'Content-Type': 'application/x-ndjson' },
    body,
  })
  const text = await response.text()
  if (response.status !== 202) throw new Error(`${url}: ${response.status} ${text}`)
  return `${response.status} ${text}`
}

function say(text: string): void {
  process.stdout.write(text + '\n')
}
