// Ends the process with a sentence on a Node that is too old. Written in the JavaScript of Node 12, since a newer
// spelling would end there with a stack trace instead.
'use strict'
const needed = [20, 19] // "engines" of package.json
const found = process.versions.node.split('.').map(Number)
if (found[0] < needed[0] || (found[0] === needed[0] && found[1] < needed[1])) {
  process.stderr.write(
    'error: eider needs Node ' +
      needed.join('.') +
      ' or later, and this is ' +
      process.versions.node +
      '\nhint: install a newer one, for instance with "nvm install 22" or from https://nodejs.org\n',
  )
  process.exit(3)
}
