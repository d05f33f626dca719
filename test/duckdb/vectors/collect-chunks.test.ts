// Alone in its process: it measures memory.

import { setTimeout as delay } from 'node:timers/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { limits } from '../../../src/core/limits.ts'
import { noteCopied } from '../../../src/duckdb/vectors/collect-chunks.ts'

const MiB = 1024 * 1024
const heldBytes = () => process.memoryUsage().arrayBuffers

test('bytes that nobody holds are given back once enough were copied', async () => {
  noteCopied(limits.uncollectedBytes) // the count begins anew
  for (let i = 0; i < 8; i++) Buffer.alloc(MiB)
  const most = heldBytes() - 6 * MiB
  noteCopied(limits.uncollectedBytes - 1)
  assert.ok(heldBytes() > most, 'too early')
  noteCopied(1)
  for (let i = 0; i < 500 && heldBytes() > most; i++) await delay(10)
  assert.ok(heldBytes() <= most, 'nothing was given back')
})

test.run()
