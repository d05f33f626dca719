import { execFile } from 'node:child_process'
import { chmod, mkdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { parse } from 'yaml'
import { repository, type Workspace, workspace } from '../support/workspace.ts'

const run = promisify(execFile)

interface Workflow {
  readonly jobs: Readonly<
    Record<string, { readonly steps: readonly { readonly name?: string; readonly run?: string }[] }>
  >
}

/** The YAML between the marks of the page. */
async function block(mark: string): Promise<unknown> {
  const page = await readFile(join(repository, 'docs/ci.md'), 'utf8')
  const [, text] = page.split(new RegExp(`<!-- /?${mark} -->`))
  return parse(/```yaml\n(.*?)```/s.exec(text ?? '')?.[1] ?? '')
}

const project = {
  'shop/eider.yml': 'name: shop\ntargets: {dev: {allow_sample: true}, ci: , prod: }\n',
  'shop/.gitignore': '.eider/\ntarget/\nbase.json\njunit.xml\n',
  'shop/models/core/orders.sql': '-- @expose id\nSELECT 1 AS id, 10 AS amount\n',
  'shop/models/mart/sales.sql':
    '-- @expose total\nSELECT sum(amount)::BIGINT AS total FROM core.orders\n',
  'shop/tests/mart/sales/adds_up/given/core.orders.csv': 'id,amount\n1,2\n2,3\n',
  'shop/tests/mart/sales/adds_up/expect.csv': 'total\n5\n',
  // What the machines of a CI service have: the package, from where the variable says.
  'bin/npm': '#!/bin/sh\n[ "$*" = "install --global eider-0.1.0.tgz" ]\n',
  'bin/eider': `#!/bin/sh\nexec "${process.execPath}" "${join(repository, 'bin/run.js')}" "$@"\n`,
} as const

type Shell = (command: string) => Promise<{ readonly stdout: string }>

/** A clone with a branch that edits one model, as a CI service checks it out, and a machine on which prod runs. */
async function cloned(): Promise<{ readonly space: Workspace; readonly shell: Shell }> {
  const space = await workspace(project)
  for (const name of ['npm', 'eider']) await chmod(space.path('bin', name), 0o755)
  const env = {
    ...process.env,
    PATH: `${space.path('bin')}:${process.env['PATH']}`,
    GITHUB_BASE_REF: 'main',
    CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main',
    PROD: space.path('machine'),
    EIDER: 'eider-0.1.0.tgz',
    GIT_CONFIG_GLOBAL: '/dev/null',
  }
  const at = (dir: string) => (command: string) =>
    run('bash', ['-eo', 'pipefail', '-c', command], { cwd: space.path(dir), env })
  const author = '-c user.name=a -c user.email=a@example.org'
  await at('shop')(`git init -q -b main && git add . && git ${author} commit -qm first`)
  await rename(space.path('shop'), space.path('origin'))
  await at('.')('git clone -q origin machine && git clone -q origin shop')
  await at('machine')('eider run --target prod --quiet')
  await at('shop')('git checkout -qb branch')
  const text = project['shop/models/mart/sales.sql']
  await space.write('shop/models/mart/sales.sql', text.replace('FROM', ', 1 AS one FROM'))
  await mkdir(space.path('shop/target'), { recursive: true })
  return { space, shell: at('shop') }
}

test('each step of the workflow for GitHub runs in a fresh clone, and the build is on the rows of prod', async () => {
  const { jobs } = (await block('github')) as Workflow
  const steps = Object.values(jobs).flatMap((job) => job.steps)
  const { space, shell } = await cloned()
  await using _space = space
  const said: string[] = []
  for (const step of steps) if (step.run !== undefined) said.push((await shell(step.run)).stdout)
  assert.is(said.length, 6)
  assert.match(said[4]!, /build +mart\.sales +definition changed/)
  assert.match(said[5]!, /reading +prod +1 set published/)
  assert.match(said[5]!, /built +mart\.sales/)
  const { stdout } = await shell("eider query --target ci --format csv 'FROM mart.sales'")
  assert.equal(stdout.trim().split(/\r?\n/), ['total,one', '10,1'])
})

test('each line of the job for GitLab runs in a fresh clone, and a break of clients fails it', async () => {
  const { eider } = (await block('gitlab')) as { readonly eider: { readonly script: string[] } }
  const { space, shell } = await cloned()
  await using _space = space
  for (const line of eider.script) await shell(line)
  await space.write('shop/models/mart/sales.sql', 'SELECT 1 AS total\n')
  const broken = await shell(eider.script.at(-1)!).catch((error: { code: number }) => error.code)
  assert.is(broken, 1)
})

test.run()
