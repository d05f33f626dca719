// A process that uses the buffer on the real disk and kills itself at its nth file call.
//   node buffer-child.js <directory> <n> <before|after>
// It says what it knows, one line each, at once: `accepted <call>`, `flushed <claim id> <events as JSON>` as the commit of
// a run would record it, `acked <claim id>`, and `done` at the end.

import { readFileSync, writeSync } from 'node:fs'
import { EventBuffer } from '../../src/buffer/buffer.ts'
import { realFiles, type Files, type OpenFile } from '../../src/buffer/files.ts'
import { silentLogger } from './silent-logger.ts'
import { TIME, eventBytes, readEvents, target } from './open-buffer.ts'

const [directory = '', at = '', when = ''] = process.argv.slice(2)
let fileCalls = 0

function killSelf(): void {
  process.kill(process.pid, 'SIGKILL')
}

/** The same object; the nth call of any of its functions is the last. */
function mortal<T extends object>(object: T): T {
  return new Proxy(object, {
    get(of, name) {
      const method: unknown = Reflect.get(of, name)
      if (typeof method !== 'function') return method
      return (...args: unknown[]) => {
        fileCalls += 1
        const dies = fileCalls === Number(at)
        if (dies && when === 'before') killSelf()
        const result: unknown = method.apply(of, args)
        if (!(result instanceof Promise)) {
          if (dies) killSelf()
          return result
        }
        return result.then((value: unknown) => {
          if (dies) killSelf()
          return name === 'open' ? mortal(value as OpenFile) : value
        })
      }
    },
  })
}

const files: Files = mortal(realFiles)
const say = (line: string) => writeSync(1, line + '\n')

{
  await using buffer = await EventBuffer.open({
    dir: `${directory}/buffer`,
    lockFile: `${directory}/collect.lock`,
    maxBufferBytes: 1e9,
    logger: silentLogger,
    files,
    segmentBytes: 700,
  })
  let calls = 0
  const append = async () => {
    const call = calls++
    await buffer.append(target, [eventBytes(`${call}/0`), eventBytes(`${call}/1`)], TIME)
    say(`accepted ${call}`)
  }
  const flush = async () => {
    const claim = await buffer.claim(target)
    if (claim === null) return
    const events = readEvents(readFileSync(new URL(claim.url))).map(({ event }) => event)
    say(`flushed ${claim.id} ${JSON.stringify(events)}`)
    await buffer.ack(claim)
    say(`acked ${claim.id}`)
  }
  const giveBack = async () => {
    const claim = await buffer.claim(target)
    if (claim !== null) await buffer.nack(claim)
  }
  await append()
  await Promise.all([append(), append(), append()])
  await flush()
  await Promise.all([append(), giveBack(), append()])
  for (let i = 0; i < 5; i += 1) await append()
  await flush()
  say('done')
}
