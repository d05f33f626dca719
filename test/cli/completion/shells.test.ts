// The scripts in the shells themselves. bash calls the function that Tab calls, zsh has a terminal with a Tab, fish
// answers a question of its own. A shell that is not there is skipped, or fails where EIDER_TEST_PARTS=required.

import { spawn } from 'node:child_process'
import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { suite } from 'uvu'
import * as assert from 'uvu/assert'
import { type Workspace, repository, workspace } from '../../support/workspace.ts'

const files = {
  'eider.yml': 'name: completed\ntargets:\n  nightly: { database: n.duckdb }\n',
  'models/core/orders.sql': '-- @tags: nightly\n-- @expose: id\nSELECT 1 AS id\n',
  'models/core/order lines.sql': 'SELECT 1 AS id\n',
  'models/mart/sales.sql': '-- @description: Sales: by day\nSELECT 1 AS id\n',
}

const bash = `
eval "$(eider completion bash)"
for COMP_LINE in "$@"; do
  COMP_POINT=\${#COMP_LINE}
  COMPREPLY=()
  _eider eider "\${COMP_LINE##*[ :=]}" 2>/dev/null
  echo "\${COMPREPLY[*]}"
done`

const fish = `
eider completion fish | source
for line in $argv; complete -C $line | cut -f1 | string join ' '; end`

// The line is read back from the terminal, so it shows what Tab has put there.
const zsh = `
zmodload zsh/zpty
zpty shell "TERM=dumb zsh -f -i"
zpty -w shell 'unsetopt ZLE_RPROMPT; PS1=; autoload -U compinit; compinit -u -D; eval "$(eider completion zsh)"; echo rea""dy'
expect() {
  local all= out= tries=0
  while [[ $all != *$1* && tries -lt 600 ]]; do
    zpty -rt shell out && all+=$out || sleep 0.1
    (( tries++ ))
  done
  [[ $all == *$1* ]] || { print -r -- "no $1 in: $all"; exit 1 }
}
expect ready
for line expected in "$@"; do
  zpty -n -w shell "$line"$'\\t'
  expect $expected
  zpty -n -w shell $'\\x15'
done
echo all`

const test = suite<{ space: Workspace }>('completion')

test.before(async (context) => {
  context.space = await workspace(files)
  await mkdir(context.space.path('bin'))
  await symlink(join(repository, 'bin', 'run.js'), context.space.path('bin', 'eider'))
})

test.after(async ({ space }) => {
  await space[Symbol.asyncDispose]()
})

/** What a shell prints; null where there is no such shell. */
async function runIn(
  space: Workspace,
  [command = '', ...args]: readonly string[],
): Promise<string | null> {
  const { dir } = space
  const path = `${space.path('bin')}:${process.env['PATH']}`
  const env = { ...process.env, PATH: path, HOME: dir }
  const child = spawn(command, args, { cwd: dir, env, stdio: ['ignore', 'pipe', 'inherit'] })
  const isThere = new Promise<boolean>((resolve) => {
    child.on('error', () => resolve(false)).on('spawn', () => resolve(true))
  })
  return (await isThere) ? await text(child.stdout) : null
}

const isRequired = process.env['EIDER_TEST_PARTS'] === 'required'
const isThere = async (shell: string) => {
  await using space = await workspace({})
  return (await runIn(space, [shell, '-c', 'exit'])) !== null
}
async function testIn(
  shell: string,
  name: string,
  run: (space: Workspace) => Promise<void>,
): Promise<void> {
  if (isRequired || (await isThere(shell))) test(name, ({ space }) => run(space))
  else test.skip(name)
}

const lines = [
  'eider run co',
  'eider show ma',
  'eider run tag:',
  'eider run --select=kind:sc',
  'eider ls --target ',
]

await testIn('bash', 'bash proposes models, selectors and targets', async (space) => {
  const printed = await runIn(space, ['bash', '--norc', '-c', bash, 'bash', ...lines])
  // Readline completes what follows the last colon or equals sign.
  const expected = [
    'core.order\\ lines core.orders core.*',
    'mart.sales',
    'nightly',
    'scd2',
    'nightly',
  ]
  assert.equal(printed?.trimEnd().split('\n'), expected)
})

await testIn('fish', 'fish proposes models, selectors and targets', async (space) => {
  const printed = await runIn(space, ['fish', '--no-config', '-c', fish, ...lines])
  const expected = [
    'core.* core.order lines core.orders',
    'mart.sales',
    'tag:nightly',
    '--select=kind:scd2',
    'nightly',
  ]
  assert.equal(printed?.trimEnd().split('\n'), expected)
})

await testIn('zsh', 'zsh completes models, selectors and targets', async (space) => {
  const expected = ['core.', 'mart.sales', 'tag:nightly', '--select=kind:scd2', 'nightly']
  const pairs = lines.flatMap((line, i) => [line, expected[i]!])
  assert.is(await runIn(space, ['zsh', '-f', '-c', zsh, 'zsh', ...pairs]), 'all\n')
})

test.run()
