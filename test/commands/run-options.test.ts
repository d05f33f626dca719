import { homedir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { runOptionsOf } from '../../src/wiring/run-options.ts'
import { loadProject } from '../../src/project/load.ts'
import { workspace } from '../support/workspace.ts'

test('a run takes its limits from the settings, also a run that serve --watch makes of a copy', async () => {
  await using space = await workspace({
    'eider.yml': `name: o
threads: 3
memory_limit: 300MB
temp_directory: spill
max_temp_size: 1GB
odata:
  keep_snapshots: 7
  keep_minutes: 2
`,
  })
  const { modelsAtOnce, ...options } = runOptionsOf(
    await loadProject(space.dir, { env: {}, flags: {} }),
  )
  assert.ok(modelsAtOnce! >= 1 && modelsAtOnce! <= 4)
  assert.equal(options, {
    threads: 3,
    memoryLimit: '300MB',
    tempDir: space.path('spill'),
    maxTempSize: '1GB',
    failingRows: 0,
    retention: { snapshots: 7, ms: 120_000, apartPercent: 2 },
    extensions: { directory: join(homedir(), '.duckdb', 'extensions'), names: [], lock: null },
  })
})

test.run()
