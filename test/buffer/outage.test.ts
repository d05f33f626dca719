// What is logged while the disk takes nothing.

import { constants } from 'node:os'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createLogger, type LogLine } from '../../src/core/logger.ts'
import { type ModelName, parseModelName } from '../../src/core/names.ts'
import { TIME, eventBytes, openBuffer, target } from '../support/open-buffer.ts'
import { failure } from '../support/failure.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import { FakeFiles, fileError } from '../support/fake-files.ts'

test('an outage is logged when it begins and when it ends, and not for each group', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const lines: LogLine[] = []
  const logger = createLogger((line) => lines.push(line))
  await using buffer = await openBuffer(directory.path, { files, logger })
  const other = parseModelName('raw.other') as ModelName
  await buffer.append(target, [eventBytes('a')], TIME)
  for (let outage = 1; outage <= 2; outage++) {
    lines.length = 0
    files.fault = (operation, path) =>
      ['write', 'mkdir'].includes(operation) ? fileError('ENOSPC', path) : null
    for (let i = 0; i < 5; i++) await failure(() => buffer.append(target, [eventBytes('b')], TIME))
    if (outage === 1)
      for (let i = 0; i < 3; i++) await failure(() => buffer.append(other, [eventBytes('b')], TIME))
    files.fault = () => null
    await buffer.append(target, [eventBytes('c')], TIME)
    await buffer.append(other, [eventBytes('c')], TIME)
    await buffer.append(other, [eventBytes('d')], TIME)
    const told = lines.filter(({ event }) => event.startsWith('buffer-write'))
    assert.equal(
      told.map(({ event, fields }) => [event, fields['target'], fields['failures'] ?? null]),
      [
        ['buffer-write-failed', 'raw.events', null],
        ...(outage === 1 ? [['buffer-write-failed', 'raw.other', null]] : []),
        ['buffer-writes-again', 'raw.events', 5],
        ...(outage === 1 ? [['buffer-writes-again', 'raw.other', 3]] : []),
      ],
    )
  }
})

test('a quota that is used up is logged by its name, for which Node has no code', async () => {
  await using directory = await temporaryDirectory()
  const files = new FakeFiles()
  const lines: LogLine[] = []
  await using buffer = await openBuffer(directory.path, {
    files,
    logger: createLogger((line) => lines.push(line)),
  })
  const errno = -constants.errno.EDQUOT
  files.fault = (operation, path) =>
    operation === 'write' ? Object.assign(fileError('UNKNOWN', path), { errno }) : null
  await failure(() => buffer.append(target, [eventBytes('a')], TIME))
  files.fault = () => null
  const failed = lines.find(({ event }) => event === 'buffer-write-failed')
  assert.is(failed?.fields['code'], 'EDQUOT')
})

test.run()
