// Readers of the service that are written in Python: the interpreter that EIDER_PYTHON names, or python3, with the packages
// that it has. A test whose package is missing is skipped, or fails where EIDER_TEST_PARTS=required.

import { execFile, execFileSync } from 'node:child_process'
import { promisify } from 'node:util'
import { test } from 'uvu'
import { extensionCache } from './extension-cache.ts'

const python = process.env['EIDER_PYTHON'] || 'python3'
const isRequired = process.env['EIDER_TEST_PARTS'] === 'required'

export type PythonTest = (name: string, run: () => Promise<void>) => void

/** Tests that need these modules, and a script that ends well. */
export const pythonTests = (modules: readonly string[], needs = ''): PythonTest =>
  isWanted(modules, needs) ? (name, run) => test(name, run) : (name) => test.skip(name)

/** False where a test that needs them is to be skipped. */
export const isWanted = (modules: readonly string[], needs = ''): boolean =>
  isRequired || endsWell(`import ${modules.join(', ')}\n${needs}`)

/** A connection of DuckDB, of the very version that the extensions are for: it fetches nothing to read over HTTP. */
export const DUCKDB_OVER_HTTP = `
def opened():
  c = duckdb.connect(config={'extension_directory': ${JSON.stringify(extensionCache)}})
  c.execute('LOAD httpfs')
  return c`

// The threads of Arrow sometimes abort an interpreter that has done all it was told and is shutting down.
const END = 'import os, sys; sys.stdout.flush(); os._exit(0)'

/** What a script prints. `args` are its sys.argv[1:]. Throws with all that it said when it fails. */
export async function runPython(script: string, args: readonly string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(python, ['-c', `${script}\n${END}`, ...args], {
    timeout: 60_000,
    env: { ...process.env, NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
  })
  return stdout.trim()
}

function endsWell(script: string): boolean {
  try {
    execFileSync(python, ['-c', script], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}
