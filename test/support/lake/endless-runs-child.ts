// The command line again and again in one process, which has to be loaded only once: node endless-runs-child.js <words>.
// Each end is told to the parent as its exit code; it goes on until the parent tells it to stop.

import { setTimeout as sleep } from 'node:timers/promises'

/** What bin/run.js starts. */
const program = new URL('../../../bundle/main.cjs', import.meta.url)
const { main } = (await import(program.href)) as typeof import('../../../src/cli/main.ts')

let isOver = false
process.on('message', () => {
  isOver = true
  process.channel?.unref()
})
// A message that is to come does not keep a process alive, and neither does a run that has ended.
process.channel?.ref()

while (!isOver) {
  process.exitCode = 0
  await main(process.argv.slice(2))
  process.send?.(process.exitCode)
  await sleep(50)
}
process.exitCode = 0
process.disconnect()
