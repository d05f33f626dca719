import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { RequestError } from '../../../src/http/request-error.ts'
import {
  formatsFor,
  negotiateData,
  negotiateMetadata,
  negotiateVersion,
  parsePreferences,
} from '../../../src/odata/protocol/negotiate.ts'

const CSV_CONTENT_TYPE = 'text/csv;charset=utf-8;header=present'
const XLSX = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'
const ARROW_CONTENT_TYPE = 'application/vnd.apache.arrow.stream'
const PARQUET_CONTENT_TYPE = 'application/vnd.apache.parquet'

/** What Excel and Power BI send. */
const POWER_QUERY =
  'application/json;odata.metadata=minimal;q=1.0,application/json;odata=minimalmetadata;q=0.9,application/atomsvc+xml;q=0.8,application/atom+xml;q=0.8,application/xml;q=0.7,text/plain;q=0.7'

function statusOf(work: () => unknown): number {
  try {
    work()
  } catch (error) {
    if (error instanceof RequestError) return error.status
    throw error
  }
  return 200
}

test('the version is the highest that the client knows', () => {
  const cases = [
    [{}, '4.01'],
    [{ 'odata-maxversion': '4.0' }, '4.0'],
    [{ 'odata-maxversion': '4.01' }, '4.01'],
    [{ 'odata-maxversion': '5.0' }, '4.01'],
    [{ 'odata-version': '4.0' }, '4.0'],
    [{ 'odata-version': '4.0', 'odata-maxversion': '4.01' }, '4.01'],
  ] as const
  for (const [headers, version] of cases) assert.is(negotiateVersion(headers), version)
  for (const text of ['3.0', 'x', '', '4', '4.0.1', '-4.0'])
    assert.is(
      statusOf(() => negotiateVersion({ 'odata-maxversion': text })),
      400,
      text,
    )
  for (const text of ['5.0', '4.02', '3.0', '', '4'])
    for (const known of [{}, { 'odata-maxversion': '4.01' }])
      assert.is(
        statusOf(() => negotiateVersion({ ...known, 'odata-version': text })),
        400,
        text,
      )
})

test('Accept and $format choose the form of JSON, or are refused', () => {
  const minimal = 'application/json;odata.metadata=minimal'
  const none = 'application/json;odata.metadata=none'
  const cases: readonly (readonly [string | null, string | null, string | 406])[] = [
    [null, null, minimal],
    ['*/*', null, minimal],
    ['application/*', null, minimal],
    ['APPLICATION/JSON', null, minimal],
    [POWER_QUERY, null, minimal],
    ['application/json; charset=utf-8', null, minimal],
    ['application/json;odata.streaming=true', null, minimal],
    ['application/json;odata.metadata=none', null, none],
    ['application/json;metadata=none', null, none],
    ['application/json;IEEE754Compatible=true', null, `${minimal};IEEE754Compatible=true`],
    ['application/json;q=0.1;metadata=none, application/json;q=0.2', null, minimal],
    ['text/html,application/json;q=0.9', null, minimal],
    ['application/json;odata.metadata=full;q=0, application/json', null, minimal],
    ['*/*;q=0, application/json', null, minimal],
    ['text/html, */*;q=0.1', null, minimal],
    ['application/xml', null, 406],
    ['image/png', null, 406],
    ['application/json;q=0', null, 406],
    ['application/json;odata.metadata=full', null, 'application/json;odata.metadata=full'],
    ['application/json;odata.metadata=most', null, 406],
    ['application/json;ExponentialDecimals=true;odata.streaming=false', null, minimal],
    ['application/json;q=0, */*', null, CSV_CONTENT_TYPE],
    ['application/*;q=0, */*', null, CSV_CONTENT_TYPE],
    ['*/*;q=0', null, 406],
    ['application/json;q=0, text/csv;q=0, */*', null, 406],
    ['*/*, application/json;odata.metadata=none', null, none],
    ['text/csv', null, CSV_CONTENT_TYPE],
    ['text/*;q=0.5, application/xml', null, CSV_CONTENT_TYPE],
    ['text/csv;q=0.9, application/json', null, minimal],
    ['application/json;q=0.9, text/csv; charset=UTF-8', null, CSV_CONTENT_TYPE],
    ['text/csv;header=absent', null, 406],
    ['text/csv;charset=iso-8859-1', null, 406],
    ['application/json;odata=verbose', null, 406],
    ['application/json;charset=iso-8859-1', null, 406],
    ['image/png', 'json', minimal],
    ['application/json', 'xml', 406],
    ['application/json', 'atom', 406],
    ['application/json', 'csv', CSV_CONTENT_TYPE],
    ['application/json', 'parquet', PARQUET_CONTENT_TYPE],
    ['application/vnd.apache.parquet', null, PARQUET_CONTENT_TYPE],
    ['application/vnd.apache.parquet;q=0.5, text/csv', null, CSV_CONTENT_TYPE],
    ['application/vnd.apache.parquet, */*;q=0.1', null, PARQUET_CONTENT_TYPE],
    ['application/vnd.apache.parquet;q=0', null, 406],
    ['application/json', 'arrow', ARROW_CONTENT_TYPE],
    ['application/vnd.apache.arrow.stream', null, ARROW_CONTENT_TYPE],
    ['application/vnd.apache.arrow.stream, */*;q=0.1', null, ARROW_CONTENT_TYPE],
    ['application/vnd.apache.arrow.file', null, 406],
    ['application/json', 'xlsx', XLSX],
    [`${XLSX}, */*;q=0.1`, null, XLSX],
    ['application/vnd.ms-excel', null, 406],
    ['application/json', 'text/csv', CSV_CONTENT_TYPE],
    ['text/csv', 'application/json', minimal],
    [null, 'application/json;odata.metadata=none', none],
  ]
  for (const [accept, format, expected] of cases) {
    const headers = accept === null ? {} : { accept }
    const name = `${accept} ${format}`
    const negotiated = () => negotiateData(headers, format, formatsFor('collection'))
    if (expected === 406) assert.is(statusOf(negotiated), 406, name)
    else {
      assert.is(negotiated().contentType, expected, name)
    }
  }
  for (const [accept, format] of [
    ['text/csv', null],
    ['text/*', null],
    ['application/json', 'csv'],
  ] as const)
    assert.is(
      statusOf(() => negotiateData({ accept }, format, formatsFor('property'))),
      406,
    )
})

test('$metadata is XML unless only JSON is wanted', () => {
  const cases: readonly (readonly [string | null, string | null, 'xml' | 'json' | 406])[] = [
    [null, null, 'xml'],
    ['*/*', null, 'xml'],
    ['application/xml', null, 'xml'],
    [POWER_QUERY, null, 'xml'],
    ['application/atom+xml', null, 'xml'],
    ['image/png', null, 'xml'],
    ['application/json', null, 'json'],
    ['application/json, */*;q=0.1', null, 'xml'],
    ['application/xml', 'json', 'json'],
    ['application/json', 'xml', 'xml'],
    [null, 'application/json;odata.metadata=minimal', 'json'],
    [null, 'atom', 406],
  ]
  for (const [accept, format, expected] of cases) {
    const headers = accept === null ? {} : { accept }
    const name = `${accept} ${format}`
    if (expected === 406)
      assert.is(
        statusOf(() => negotiateMetadata(headers, format)),
        406,
        name,
      )
    else assert.is(negotiateMetadata(headers, format), expected, name)
  }
})

const ALL = ['maxpagesize', 'track-changes', 'omit-values'] as const

test('preferences count with and without their prefix, the first of a name', () => {
  const rowsOf = (prefer: string) => parsePreferences({ prefer }, ALL).maxPageSize
  assert.is(rowsOf('odata.maxpagesize=3'), 3)
  assert.is(rowsOf('respond-async, MaxPageSize = "7"; x=1'), 7)
  assert.is(rowsOf('maxpagesize=5,maxpagesize=6'), 5)
  assert.is(rowsOf('maxpagesize=999999999999'), 999_999_999_999)
  for (const ignored of ['', 'maxpagesize', 'maxpagesize=0', 'maxpagesize=-1', 'maxpagesize=x'])
    assert.is(rowsOf(ignored), null, ignored)
  const headers = {
    prefer: 'track-changes, odata.omit-values=nulls, return=minimal, maxpagesize="3"',
  }
  const all = parsePreferences(headers, ALL)
  assert.ok(all.trackChanges && all.omitNulls)
  assert.is(all.applied, 'track-changes, odata.omit-values=nulls, maxpagesize=3')
  const some = parsePreferences(headers, ['maxpagesize'])
  assert.is(some.applied, 'maxpagesize=3')
  assert.not.ok(some.trackChanges || some.omitNulls)
  for (const ignored of ['omit-values=defaults', 'omit-values', 'track-changes=no', 'tracked'])
    assert.is(parsePreferences({ prefer: ignored }, ALL).applied, null, ignored)
})

test.run()
