// A catalog that is put back from a backup, as docs/scale-out.md says: what was flushed and built since is no longer in the
// tables, all that the backup knew is, and runs go on from there.

import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lakeProject } from '../support/lake/lake-project.ts'
import { lakeTest } from '../support/lake/lake-test.ts'
import { findPostgres } from '../support/lake/parts.ts'
import { superuser } from '../support/lake/servers.ts'
import { withLake } from '../support/lake/with-lake.ts'

lakeTest('a catalog is restored from a backup, and the next run builds what it lacks', async () => {
  await using lake = await withLake()
  const model = (rows: number) => `-- @expose id\nSELECT id FROM range(${rows}) t(id)\n`
  await using space = await lakeProject(lake, { 'models/mart/t.sql': model(3) })
  const rows = async () => {
    const { stdout } = await space.ok([
      'query',
      'SELECT count(*)::INTEGER AS n FROM mart.t',
      '--json',
    ])
    return (JSON.parse(stdout) as { n: number }).n
  }
  const { user, password } = superuser
  const url = `postgres://${user}:${password}@127.0.0.1:${lake.servers.postgresPort}/${lake.database}`
  const postgres = (program: string, ...args: readonly string[]) =>
    execFileSync(join(findPostgres()!, program), args, { stdio: ['ignore', 'ignore', 'pipe'] })

  await space.ok(['run'])
  postgres('pg_dump', '--format=custom', '--schema=shop', `--file=${space.path('lake.dump')}`, url)
  await space.write('models/mart/t.sql', model(5))
  await space.ok(['run'])
  assert.is(await rows(), 5)
  postgres('pg_restore', '--clean', '--if-exists', `--dbname=${url}`, space.path('lake.dump'))
  assert.is(await rows(), 3)
  assert.match((await space.ok(['run'])).stdout, /built +mart\.t +5 rows/)
  assert.is(await rows(), 5)
  await space.ok(['pull'])
})

test.run()
