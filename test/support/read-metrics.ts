import * as assert from 'uvu/assert'

/** Samples by name with labels, without `prefix`; fails on a line that is none of the format. */
export async function readMetrics(
  url: string,
  prefix: string,
): Promise<ReadonlyMap<string, number>> {
  const response = await fetch(url)
  assert.is(response.status, 200)
  assert.match(response.headers.get('content-type')!, 'text/plain; version=0.0.4')
  const text = await response.text()
  assert.ok(text.endsWith('\n'))
  const samples = new Map<string, number>()
  const typed = new Set<string>()
  for (const line of text.slice(0, -1).split('\n')) {
    const [, family] = /^# TYPE (\w+) (?:counter|gauge|histogram)$/.exec(line) ?? []
    if (family !== undefined) typed.add(family)
    if (line.startsWith('#')) continue
    const [, name = '', labels = '', value] =
      /^(\w+)(\{\w+="(?:[^"\\\n]|\\["\\n])*"\})? (\d[\d.e+-]*)$/.exec(line) ?? []
    assert.ok(value !== undefined, line)
    assert.ok(typed.has(name.replace(/_(bucket|sum|count)$/, '')) || typed.has(name), line)
    assert.not(samples.has(name + labels), line)
    samples.set(name + labels, Number(value))
  }
  return new Map([...samples].map(([name, value]) => [name.replace(prefix, ''), value]))
}
