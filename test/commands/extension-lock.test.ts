// eider.lock: which files of extensions a project is built with.
// Its commands are processes: an extension stays loaded in one.

import { readFile } from 'node:fs/promises'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { lockKey } from '../../src/duckdb/extension-files.ts'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { workspace } from '../support/workspace.ts'

withExtensions(
  test,
  ['excel', 'sqlite_scanner'],
  'install writes it, and another file than the one that it names is refused, by install too',
  async () => {
    await using space = await workspace({
      'eider.yml':
        'name: t\nextensions:\n  directory: ext\n  load: [excel]\nsources:\n  app: {sqlite: app.db, tables: {t: }}\n',
      'models/a/priced.sql': "SELECT excel_text(1234.5, '#,##0.00') AS price\n",
      'models/a/users.sql': 'SELECT * FROM app.t\n',
      'app.db': '',
    })
    const install = ['extension', 'install', '--from', extensionCache]
    assert.match((await space.ok(install)).stdout, /^wrote {6}eider\.lock$/m)
    const text = await readFile(space.path('eider.lock'), 'utf8')
    const lock = JSON.parse(text) as Record<string, Record<string, string>>
    const own = lock[lockKey()]!
    assert.equal(Object.keys(own), ['excel', 'sqlite_scanner'])
    await space.ok(['query', 'SELECT 1 AS one'])
    assert.not((await space.ok(install)).stdout.includes('wrote'))

    const other = { ...lock, 'v0.0.1/else': { excel: 'a'.repeat(64) } }
    await space.write(
      'eider.lock',
      JSON.stringify({ ...other, [lockKey()]: { ...own, excel: 'b'.repeat(64) } }),
    )
    for (const command of [['run'], install]) {
      const { stderr } = await space.ok(command, { exitCode: 3 })
      assert.match(stderr, /the extension excel is not the file that eider\.lock names for v/)
      assert.match(stderr, /hint: delete that file, then: eider extension install excel/)
    }
    await space.write(
      'eider.lock',
      JSON.stringify({ ...other, [lockKey()]: { excel: own['excel'] } }),
    )
    const { stderr } = await space.ok(['run'], { exitCode: 1 })
    assert.match(stderr, /^eider\.yml:6:3 error invalid-source: .*has no extension sqlite_scanner/m)
    assert.match(stderr, /hint: eider extension install sqlite_scanner/)
    await space.ok(install)
    const again = JSON.parse(await readFile(space.path('eider.lock'), 'utf8')) as typeof lock
    assert.equal(again, { ...other, [lockKey()]: own }, 'what it has of other machines stays')
  },
)

test.run()
