#!/usr/bin/env node
// CommonJS, because its loader leaves the thread pool alone: the size must be known before the pool starts.
process.env.UV_THREADPOOL_SIZE ??= '24'
const [, , first, ...more] = process.argv
// The command line framework takes longer to load than the rest of this answer.
if (first === '--version' && more.length === 0) {
  const { name, version } = require('../package.json')
  process.stdout.write(
    `${name}/${version} ${process.platform}-${process.arch} node-${process.version}\n`,
  )
} else {
  // Keeps the compiled form of all modules between runs, from Node 22 on.
  require('node:module').enableCompileCache?.()
  import('../dist/bundle/main.js')
    .then(({ main }) => main(process.argv.slice(2)))
    .catch((error) => {
      // An installation that is broken, or not built, is no mistake of the project (exit code 1).
      process.stderr.write(`error: eider cannot start: ${error.message}\n`)
      process.exitCode = 70
    })
}
