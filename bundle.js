// Puts the program and its packages into the few files of dist/bundle that bin/run.js starts. Node takes some 100 ms to
// find and load several hundred files, a fifth of what a run with nothing to do takes.

import { build } from 'rolldown'
import { bundlePapers } from './bundle-papers.js'

await build({
  input: [
    'src/cli/main.ts',
    'src/cli/command-not-found.ts',
    'src/commands/table.ts',
    'src/commands/collect/compile-child.ts',
  ],
  platform: 'node',
  transform: { target: 'node20' },
  external: [
    '@duckdb/node-bindings', // finds the library of the engine beside itself
    'typescript', // oclif asks for it in a checkout of its own alone
  ],
  output: {
    dir: 'dist/bundle', // without directories inside: code finds its neighbours by import.meta.url
    cleanDir: true,
    chunkFileNames: '[name]-[hash].js',
    // Otherwise most of their small modules are files of their own, each of which Node has to find and read.
    // What the daemon shares with a run is in `core`: a group takes what it imports, and a run imports the engine.
    codeSplitting: {
      groups: [
        { name: 'core', test: /\/src\/(core\/|files\/|buffer\/(segment|claim-source)\.)/ },
        { name: 'engine', test: /\/src\/(duckdb|store)\/|\/@duckdb\/node-api\// },
        { name: 'pipeline', test: /\/src\/pipeline\// },
      ],
    },
  },
  plugins: [bundlePapers],
})
