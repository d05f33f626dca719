// Each of the thirty questions, asked in words that a user would type, is answered by both searches: that of the site, and
// `eider help search`.

import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { runInNewContext } from 'node:vm'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { searchPages } from '../../src/cli/search-pages.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { repository } from '../support/workspace.ts'

/** What is asked, in two ways, and the page that has the long answer. */
const asked = [
  ['install npm docker homebrew', 'install without cloning', 'install'],
  ['windows mac alpine arm', 'supported platforms', 'install'],
  ['duckdb version', 'downgrade duckdb files', 'formats'],
  ['upgrade rollback', 'downgrade', 'guides/upgrade'],
  ['read from postgres', 's3 excel source', 'sources'],
  ['staging mart folders', 'schema names layers', 'annotations'],
  ['merge or scd2', 'incremental table', 'guides/choose-a-kind'],
  ['dev target empty', 'copy prod data to dev', 'ci'],
  ['sample data', 'run on 10 percent', 'ci'],
  ['unit test model', 'test fixtures', 'tests'],
  ['github actions', 'pull request check', 'ci'],
  ['deploy events model', 'add column events model', 'collect/operating'],
  ['rename model', 'drop leftover table', 'commands'],
  ['delete personal data', 'gdpr erase', 'guides/delete-and-retain'],
  ['retention 90 days', 'old events expire', 'guides/delete-and-retain'],
  ['rejected events', 'replay rejected', 'collect'],
  ['backfill range', 'backfill append', 'annotations'],
  ['power bi gateway token', 'excel refresh', 'guides/excel-and-power-bi'],
  ['tableau grafana', 'pandas', 'guides/python-and-grafana'],
  ['rotate token', 'token per sender', 'collect/senders'],
  ['https certificate', 'tls nginx', 'guides/deploy'],
  ['stripe webhook', 'webhook signature', 'collect/senders'],
  ['events per second', 'throughput', 'collect/operating'],
  ['alerts', 'alert rules', 'guides/monitor'],
  ['docker compose volume', 'kubernetes', 'guides/deploy'],
  ['timezone date', 'time zone of a day', 'explanations/time-zones'],
  ['slow model', 'why is my model slow', 'commands'],
  ['edit warehouse with duckdb', 'open warehouse in duckdb cli', 'operations'],
  ['stable semver', 'breaking changes between versions', 'versioning'],
  ['python models udf', 'share macros', 'annotations'],
] as const

const find = await searchOfSite()

async function searchOfSite() {
  await using directory = await temporaryDirectory()
  const made = spawnSync(process.execPath, ['.ci/site.js', directory.path], { cwd: repository })
  assert.is(made.status, 0, made.stderr.toString())
  const nothing = { addEventListener() {}, dataset: { root: '.' } }
  const document = { ...nothing, documentElement: nothing, querySelector: () => nothing }
  const script = `${readFileSync(join(directory.path, 'search.js'), 'utf8')}\n;find`
  return runInNewContext(script, { document }) as (query: string) => { id: string }[]
}

for (const [number, [one, other, page]] of asked.entries())
  for (const words of [one, other])
    test(`question ${number + 1}, "${words}", is answered by ${page}`, () => {
      const site = find(words)
        .slice(0, 5)
        .map(({ id }) => id)
      assert.ok(
        site.some((id) => id.replace(/\.html.*/, '') === page),
        site.join(', '),
      )
      const help = searchPages(words.split(' '))
        .slice(0, 8)
        .map(({ topic }) => topic)
      assert.ok(help.includes(page), help.join(', '))
    })

test('each of the questions has a short answer, with a link to the page of the long one', () => {
  const page = readFileSync(join(repository, 'docs/questions.md'), 'utf8')
  const answers = page.split(/^### /m).slice(1)
  assert.is(answers.length, asked.length)
  for (const answer of answers) assert.match(answer, /\]\([\w/.-]+\.md(#[\w-]+)?\)/)
})

test.run()
