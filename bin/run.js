#!/usr/bin/env node
// CommonJS, because its loader leaves the thread pool alone: the size must be known before the pool starts.
process.env.UV_THREADPOOL_SIZE ??= '24'
void import('../dist/src/cli/main.js').then(({ main }) => main(process.argv.slice(2)))
