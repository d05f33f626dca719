// A service of SAP CAP for Node on SQLite, which speaks OData as eider does.

import { execFileSync } from 'node:child_process'
import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../../support/free-port.ts'
import type { Workspace } from '../../support/workspace.ts'
import type { Row } from './equal-rows.ts'
import { nodeModules } from './peer-cache.ts'
import { peerDirectory, startPeer } from './peer-process.ts'
import { odataQuestions, servedComparison, type ServedTable } from './served-peer.ts'
import { loadSqlite } from './sqlite.ts'

const files = {
  'package.json': JSON.stringify({
    name: 'bench',
    cds: {
      requires: { db: { kind: 'sqlite', credentials: { url: 'rows.db' } }, auth: 'dummy' },
      query: { limit: { default: 0, max: 0 } },
      features: { ieee754compatible: false },
    },
  }),
  'srv/bench.cds': `
@path: '/odata/v4/bench' @requires: 'any'
service bench {
  @readonly @cds.query.limit: { default: 0, max: 0 }
  entity rows {
    key id : Integer; name : String; note : String; big : Int64; other : Int64; price : Decimal(18,4);
    ratio : Double; flag : Boolean; day : Date; at : DateTime;
  }
}
`,
}

export const capPeer = servedComparison({
  name: 'cap',
  title: 'SAP CAP 9.9.3',
  settings:
    'Node, @cap-js/sqlite 2.4.2 with a file, `NODE_ENV=production`, one read-only entity with its key, no limits of pages, no users. The same OData requests for both. eider: its cache of answers off.',
  durability: 'Neither writes.',
  goals: { lookup: 0.8 },
  exportFormat: 'json',
  start,
})

async function start(space: Workspace): Promise<ServedTable> {
  const modules = join(nodeModules('cap'), 'node_modules')
  const dir = await peerDirectory()
  await mkdir(join(dir, 'srv'))
  for (const [path, text] of Object.entries(files)) await writeFile(join(dir, path), text)
  await symlink(modules, join(dir, 'node_modules'))
  const env = { ...process.env, NODE_ENV: 'production' }
  const deploy = join(modules, '.bin', 'cds-deploy')
  execFileSync(process.execPath, [deploy], { cwd: dir, env, stdio: 'pipe' })
  loadSqlite('python3', space.path('rows.csv'), join(dir, 'rows.db'), 'bench_rows')
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const set = (rest: string) => ({ path: `/odata/v4/bench/rows${rest.replaceAll(' ', '%20')}` })
  const child = await startPeer(
    process.execPath,
    [join(modules, '.bin', 'cds-serve'), '--port', String(port)],
    {
      dir,
      env: { ...env, PORT: String(port), LOG_LEVELS: 'error' },
      isReady: async () => (await fetch(`${url}${set('(1)').path}`)).ok,
    },
  )
  return {
    pid: child.pid,
    url,
    ask: odataQuestions(set, ''),
    read(work, answer) {
      const value = JSON.parse(answer) as Row & { readonly value?: readonly Row[] }
      return work === 'lookup' ? [value] : value.value!
    },
    exported: (answer) => (JSON.parse(answer) as { readonly value: readonly Row[] }).value,
    [Symbol.asyncDispose]: () => child[Symbol.asyncDispose](),
  }
}
