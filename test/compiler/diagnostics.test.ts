// Every diagnostic as it is printed, from projects with mistakes. UPDATE_GOLDEN=1 writes what is printed now.

import { readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { showDiagnostic } from '../../src/cli/show-diagnostic.ts'
import { compile } from '../../src/compiler/compile.ts'
import { type Diagnostic, DiagnosticsError, allCodes } from '../../src/core/diagnostics.ts'
import { loadProject } from '../../src/project/load.ts'
import { repository } from '../support/workspace.ts'

const directory = join(repository, 'test/golden/diagnostics')
const cases = readdirSync(directory).toSorted()

for (const name of cases) {
  test(name, async () => {
    const dir = join(directory, name)
    const diagnostics = await diagnosticsOf(dir)
    const shown = diagnostics.map((diagnostic) => showDiagnostic(diagnostic) + '\n').join('\n')
    if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(join(dir, 'expected.txt'), shown)
    assert.is(shown, readFileSync(join(dir, 'expected.txt'), 'utf8'))
    const codes = new Set(diagnostics.map(({ code }) => code))
    assert.ok(
      [...codes].some((code) => name === code || name.startsWith(`${code}-`)),
      `${name} shows ${[...codes].join(', ')}`,
    )
  })
}

test('every code has a case', () => {
  const missing = allCodes.filter(
    (code) => !cases.some((name) => name === code || name.startsWith(`${code}-`)),
  )
  assert.equal(missing, [])
})

async function diagnosticsOf(dir: string): Promise<readonly Diagnostic[]> {
  try {
    const { files } = await loadProject(dir, { env: {}, flags: {} })
    return (await compile(files, { dir })).warnings
  } catch (error) {
    if (error instanceof DiagnosticsError) return error.diagnostics
    throw error
  }
}

test.run()
