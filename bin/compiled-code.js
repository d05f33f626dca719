// What enableCompileCache() of node:module does from Node 22 on, for the bundle: its compiled form is kept in dist/compiled/,
// a file for each of its files. Whoever can write there can write the program too. Where nobody can, it is compiled each
// time. The name of a file is a hash of what is compiled and by what, since V8 compares no more than its length. V8 does
// not notice damage either, so a file begins with the hash of the rest.
'use strict'
const { createHash } = require('node:crypto')
const fs = require('node:fs')
const Module = require('node:module')
const { dirname, join } = require('node:path')
const { constants, Script } = require('node:vm')

const HASH_BYTES = 32
const bundleDir = join(__dirname, '..', 'dist', 'bundle')
const compiledDir = join(__dirname, '..', 'dist', 'compiled')
const compiler = `${process.version} ${process.arch}`

exports.keepCompiledCode = () => {
  const compileAnew = Module.prototype._compile
  const fresh = []
  Module.prototype._compile = function (text, filename, ...rest) {
    if (dirname(filename) !== bundleDir) return compileAnew.call(this, text, filename, ...rest)
    const path = join(compiledDir, `${hashOf(compiler, text).toString('hex')}.bin`)
    const cachedData = readCompiled(path)
    const script = new Script(Module.wrap(text), {
      filename,
      cachedData,
      importModuleDynamically: constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
    })
    if (cachedData === undefined || script.cachedDataRejected) fresh.push({ path, script })
    const run = script.runInThisContext()
    const require = Module.createRequire(filename)
    return run.call(this.exports, this.exports, require, this, filename, bundleDir)
  }
  process.on('exit', () => {
    // By now it has the functions that were called, too.
    for (const { path, script } of fresh) if (!writeCompiled(path, script)) return
  })
}

function readCompiled(path) {
  try {
    const content = fs.readFileSync(path)
    const data = content.subarray(HASH_BYTES)
    return hashOf(data).equals(content.subarray(0, HASH_BYTES)) ? data : undefined
  } catch {
    return undefined
  }
}

/** False where it cannot be written. */
function writeCompiled(path, script) {
  const next = `${path}.${process.pid}.tmp`
  try {
    fs.mkdirSync(compiledDir, { recursive: true })
    const file = fs.openSync(next, 'w')
    try {
      const data = script.createCachedData()
      fs.writevSync(file, [hashOf(data), data])
    } finally {
      fs.closeSync(file)
    }
    fs.renameSync(next, path)
    return true
  } catch {
    return false
  }
}

function hashOf(...parts) {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest()
}
