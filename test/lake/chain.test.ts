// `lake.s3_credentials: chain`: keys that the machine has, as by its role; here from the environment and from a file.

// Its commands are processes: libraries of the store keep what they have found in the environment.

import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeTest } from '../support/lake/lake-test.ts'
import { withLake } from '../support/lake/with-lake.ts'
import { workspace } from '../support/workspace.ts'

lakeTest('the keys of the machine open the store, and none of the engine do', async () => {
  await using lake = await withLake()
  const settings = { ...lake.settings, s3_credentials: 'chain' }
  await using space = await workspace({
    'eider.yml': `name: shop\nlake:\n${Object.entries(settings)
      .map(([name, value]) => `  ${name}: '${value}'\n`)
      .join('')}`,
    'models/mart/a.sql': 'SELECT range AS id FROM range(10)\n',
  })
  const { LAKE_S3_KEY_ID: keyId, LAKE_S3_SECRET: secret, ...others } = lake.env
  const env = {
    ...others,
    AWS_EC2_METADATA_DISABLED: 'true',
    AWS_CONFIG_FILE: space.path('none'),
    AWS_SHARED_CREDENTIALS_FILE: space.path('credentials'),
  }
  const without = await space.ok(['run'], { env, exitCode: 3 })
  assert.match(
    without.stderr,
    /role of this machine provides no keys for s3:.*s3_credentials: keys/s,
  )

  const inEnvironment = { AWS_ACCESS_KEY_ID: keyId!, AWS_SECRET_ACCESS_KEY: secret! }
  // Were they keys of the engine, it would delete what was committed here.
  void lake.catalog.loseNextCommit()
  await space.eider(['run'], { env: { ...env, ...inEnvironment } })
  await space.ok(['run'], { env: { ...env, ...inEnvironment } })
  assert.equal(lake.store.deletions, [])

  await space.write(
    'credentials',
    `[default]\naws_access_key_id = ${keyId}\naws_secret_access_key = ${secret}\n`,
  )
  const { stdout } = await space.ok(['query', 'SELECT sum(id)::INT AS n FROM mart.a', '--json'], {
    env,
  })
  assert.equal(JSON.parse(stdout), { n: 45 })
  await space.ok(['maintain'], { env })
})

test.run()
