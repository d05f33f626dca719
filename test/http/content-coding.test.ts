import { gunzipSync, brotliDecompressSync } from 'node:zlib'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { acceptedCodings, compress, compressParts } from '../../src/http/content-coding.ts'

test('the coding that a client likes best', () => {
  const examples: readonly (readonly [string | undefined, string, boolean])[] = [
    [undefined, 'identity', true],
    ['', 'identity', true],
    ['gzip', 'gzip', true],
    ['gzip, deflate', 'gzip', true],
    ['gzip, deflate, br', 'br', true],
    ['GZIP;Q=1', 'gzip', true],
    ['x-gzip', 'gzip', true],
    ['br;q=0.5, gzip;q=0.9', 'gzip', true],
    ['br;q=0, gzip;q=0', 'identity', true],
    ['gzip;q=0.2, identity;q=0.9', 'identity', true],
    ['gzip;q=0.9, identity;q=0.2', 'gzip', true],
    ['gzip, identity;q=0', 'gzip', false],
    ['*', 'br', true],
    ['*;q=0, gzip', 'gzip', false],
    ['*;q=0, identity', 'identity', true],
    ['br;q=0, *', 'gzip', true],
    ['identity', 'identity', true],
    ['deflate, zstd', 'identity', true],
    ['gzip;q=nonsense', 'identity', true],
    ['gzip;q=7', 'identity', true],
  ]
  for (const [header, best, identity] of examples)
    assert.equal(acceptedCodings(header), { best, identity }, String(header))
})

test('a client may take none of them', () => {
  for (const header of ['identity;q=0', '*;q=0', 'deflate, identity;q=0', 'gzip;q=0, *;q=0'])
    assert.is(acceptedCodings(header), null, header)
})

test('whole bodies', async () => {
  const body = Buffer.from('some text, again and again. '.repeat(1_000))
  assert.is(await compress(body, 'identity'), body)
  const [gzip, br] = [await compress(body, 'gzip'), await compress(body, 'br')]
  assert.ok(gzip.length < body.length / 3 && br.length < body.length / 3)
  assert.ok(gunzipSync(gzip).equals(body))
  assert.ok(brotliDecompressSync(br).equals(body))
})

const decoders = { gzip: gunzipSync, br: brotliDecompressSync } as const

for (const coding of ['gzip', 'br'] as const) {
  test(`${coding}: each part goes out before the next one is made`, async () => {
    const made: string[] = []
    let begin = () => {}
    const isFirstOut = new Promise<void>((resolve) => (begin = resolve))
    async function* parts() {
      for (const name of ['first', 'second', 'third']) {
        made.push(name)
        yield Buffer.from(`${name} `.repeat(50_000))
        if (name === 'first') await isFirstOut
      }
    }
    const pieces: Buffer[] = []
    for await (const piece of compressParts(parts(), coding)) {
      pieces.push(piece)
      if (pieces.length === 1) assert.equal(made, ['first'])
      begin()
    }
    const text = decoders[coding](Buffer.concat(pieces)).toString()
    assert.is(text.length, 50_000 * 'first second third '.length)
    assert.ok(text.endsWith('third third '))
  })

  test(`${coding}: a failure of the parts is thrown, and what came before is not whole`, async () => {
    async function* parts() {
      yield Buffer.from('text '.repeat(50_000))
      await Promise.resolve()
      throw new Error('no more')
    }
    const pieces: Buffer[] = []
    let thrown: unknown = null
    try {
      for await (const piece of compressParts(parts(), coding)) pieces.push(piece)
    } catch (error) {
      thrown = error
    }
    assert.is((thrown as Error | null)?.message, 'no more')
    assert.throws(() => decoders[coding](Buffer.concat(pieces)))
  })
}

test.run()
