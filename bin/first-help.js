// `eider --help` as the command line framework prints it, from texts that the build has made with it
// (rolldown.commands.js): loading the framework takes longer than the rest of this answer.
'use strict'
const { readFileSync } = require('node:fs')
const { join } = require('node:path')

/** null: it may look otherwise here. */
exports.firstHelp = (version) => {
  const { env, stdout } = process
  if (['OCLIF_COLUMNS', 'FORCE_COLOR'].some((name) => name in env)) return null
  const { narrow, wide, width } = readTexts()
  if (!stdout.isTTY) return narrow.replace('VERSION_LINE', version)
  const isPlain = ['NO_COLOR', 'NODE_DISABLE_COLORS', 'CI'].some((name) => name in env)
  if (isPlain || /^(?:dumb)?$/.test(env.TERM || '') || stdout.columns < width) return null
  return wide.replace(/^[A-Z]+$/gm, '\x1b[1m$&\x1b[22m').replace('VERSION_LINE', version)
}

function readTexts() {
  return JSON.parse(readFileSync(join(__dirname, '..', 'dist', 'bundle', 'help.json'), 'utf8'))
}
