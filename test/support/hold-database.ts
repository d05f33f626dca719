import { spawn } from 'node:child_process'
import { once } from 'node:events'

const script = (path: string) => `
  import { DuckDBInstance } from '@duckdb/node-api'
  globalThis.held = await DuckDBInstance.create(${JSON.stringify(path)})
  process.stdout.write('held')
  setInterval(() => {}, 1000)`

/** A process that holds a file of DuckDB until it is killed. */
export async function holdDatabase(path: string) {
  const child = spawn(process.execPath, ['--input-type=module', '-e', script(path)])
  const exited = once(child, 'exit')
  await once(child.stdout, 'data')
  return {
    pid: child.pid,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}
