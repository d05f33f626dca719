#!/usr/bin/env node
// In the JavaScript of Node 12, so that the next line can be reached.
require('./node-version.js')
// Read when the pool starts, so before anything else.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || '24'
const words = process.argv.slice(2)
// The command line framework takes longer to load than the rest of this answer.
if (words.length === 1 && ['--version', '-v', '-V', 'version'].includes(words[0])) {
  const { name, version, dependencies } = require('../package.json')
  const [duckdb] = dependencies['@duckdb/node-bindings'].split('-')
  process.stdout.write(
    `${name}/${version} ${process.platform}-${process.arch} node-${process.version} duckdb-v${duckdb}\n`,
  )
} else {
  const { enableCompileCache } = require('node:module')
  // Keeps the compiled form of all modules between runs, from Node 22 on.
  if (enableCompileCache !== undefined) enableCompileCache()
  else require('./compiled-code.js').keepCompiledCode()
  Promise.resolve()
    .then(() => require('../dist/bundle/main.cjs').main(words))
    .catch((error) => {
      // An installation that is broken, or not built, is no mistake of the project (exit code 1).
      const [problem] = error.message.split('\n')
      process.stderr.write(`error: eider cannot start: ${problem}\n`)
      process.exitCode = 70
    })
}
