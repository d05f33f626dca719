#!/usr/bin/env node
// In the JavaScript of Node 12, so that the next line can be reached.
require('./node-version.js')
// Read when the pool starts, so before anything else.
process.env.UV_THREADPOOL_SIZE = process.env.UV_THREADPOOL_SIZE || '24'
const words = process.argv.slice(2)
const word = words.length === 0 ? '--help' : words.length === 1 ? words[0] : null
// The command line framework takes longer to load than the rest of these answers.
if (['--version', '-v', '-V', 'version'].includes(word)) {
  const { dependencies } = require('../package.json')
  const [duckdb] = dependencies['@duckdb/node-bindings'].split('-')
  process.stdout.write(`${version()} duckdb-v${duckdb}\n`)
} else {
  const help = ['--help', '-h'].includes(word) ? firstHelp() : null
  if (help === null) start()
  else process.stdout.on('error', reportLostOutput).write(help)
}

function version() {
  const { name, version } = require('../package.json')
  return `${name}/${version} ${process.platform}-${process.arch} node-${process.version}`
}

function firstHelp() {
  try {
    return require('./first-help.js').firstHelp(version())
  } catch {
    return null
  }
}

function reportLostOutput(error) {
  if (error.code === 'EPIPE') return
  process.stderr.write(`error: the output cannot be written: ${error.message}\n`)
  process.exitCode = 3
}

function start() {
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
