import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { ODataService, requireOpenable } from '../../../src/odata/service.ts'
import { fileReader } from '../../../src/store/files/reader.ts'
import { usualOptions } from '../../support/odata-service.ts'
import { silentLogger } from '../../support/silent-logger.ts'

test('a service refuses rows for which its engine would have to reach beyond its files', async () => {
  const files = fileReader(join(tmpdir(), 'eider-nothing-here'))
  const published = { ...files, rows: { ...files.rows, ownFilesOnly: false } }
  const options = { ...usualOptions, published, tempDir: tmpdir(), logger: silentLogger }
  for (const open of [requireOpenable, (given: typeof options) => ODataService.open(given)]) {
    const refused = await open(options).then(String, (error: unknown) => String(error))
    assert.match(refused, 'from its own files')
  }
})

test.run()
