// Orders that a daemon of a machine takes in, with nothing but ids.

import * as assert from 'uvu/assert'
import { startDaemon } from '../daemon-process.ts'
import type { Workspace } from '../workspace.ts'

export async function collectOrders(space: Workspace, ids: readonly number[]): Promise<void> {
  await using daemon = await startDaemon(space)
  const body = ids.map((id) => `{"id":${id}}\n`).join('')
  const headers = { 'Content-Type': 'application/x-ndjson' }
  const sent = { method: 'POST', headers, body }
  const answer = await fetch(`${daemon.url}/collect/raw/orders/batch`, sent)
  assert.is(answer.status, 202, await answer.text())
}
