import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { settings } from '../../src/project/settings.ts'
import { repository } from '../support/workspace.ts'

const page = readFileSync(join(repository, 'docs', 'configuration.md'), 'utf8')

test('the table lists the settings with their variables and defaults, and says what each means', () => {
  const documented = page
    .split('\n')
    .filter((line) => line.startsWith('| `'))
    .map((line) => line.split('|').map((cell) => cell.trim().replaceAll('`', '')))
    .map(([, name, env, value, meaning]) => ({
      name,
      env,
      default: value,
      isExplained: meaning !== '',
    }))
  const actual = Object.entries(settings).map(([name, setting]) => ({
    name,
    env: 'env' in setting ? setting.env : '',
    default: setting.default === null ? '' : String(setting.default),
    isExplained: true,
  }))
  assert.ok(actual.length > 10)
  assert.equal(documented, actual)
})

test.run()
