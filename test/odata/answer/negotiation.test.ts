// Which format an answer has, by what is asked for: one request a row.

import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { openService } from '../../support/odata-service.ts'
import { shop } from '../../support/related-tables.ts'
import { testsSharing } from '../../support/shared.ts'

const withService = testsSharing(() => openService(shop))

const JSON_TYPE = 'application/json;odata.metadata=minimal'
const CSV = 'text/csv;charset=utf-8;header=present'

/** Target, Accept ('' for none), and the type of the answer or the code of a refusal with what it names. */
const rows: readonly (readonly [target: string, accept: string, answer: string])[] = [
  ['shop_orders', '', JSON_TYPE],
  ['shop_orders', '*/*', JSON_TYPE],
  ['shop_orders', 'application/*', JSON_TYPE],
  ['shop_orders', 'application/json', JSON_TYPE],
  ['shop_orders', 'application/json;odata.metadata=none', 'application/json;odata.metadata=none'],
  ['shop_orders', 'application/json;metadata=full', 'application/json;odata.metadata=full'],
  ['shop_orders', 'text/csv', CSV],
  ['shop_orders', 'text/csv;q=0.5, application/json', JSON_TYPE],
  ['shop_orders', 'application/xml', 'not-acceptable Accept'],
  ['shop_orders', 'application/json;q=0', 'not-acceptable Accept'],
  ['shop_orders', 'text/html', 'not-acceptable Accept'],
  ['shop_orders?$format=json', 'text/csv', JSON_TYPE],
  ['shop_orders?$format=csv', 'application/json', CSV],
  ['shop_orders?$format=docx', '', 'not-acceptable $format'],
  ['shop_orders?$format=', '', 'invalid-option-value $format'],
  ['shop_orders?format=csv', '', CSV],
  ['shop_orders(10)', 'text/csv', CSV],
  ['shop_orders(10)/status', 'application/json', JSON_TYPE],
  ['shop_orders(10)/status', 'text/csv', 'not-acceptable Accept'],
  ['shop_orders(10)/status/$value', 'text/plain', 'text/plain;charset=utf-8'],
  ['shop_orders(10)/status/$value', 'image/png', 'not-acceptable Accept'],
  ['shop_orders/$count', '', 'text/plain;charset=utf-8'],
  ['', '', JSON_TYPE],
  ['', 'text/csv', 'not-acceptable Accept'],
  ['$metadata', '', 'application/xml'],
  ['$metadata', 'application/json', 'application/json'],
  ['$metadata?$format=xml', 'application/json', 'application/xml'],
  ['$metadata?$format=csv', '', 'not-acceptable $format'],
]

for (const [target, accept, expected] of rows)
  withService(
    `${target === '' ? 'the root' : target}, Accept: ${accept || '-'}`,
    async (served) => {
      const answer = await served.get(target, accept === '' ? {} : { accept })
      const said = () => {
        const { code, target: named } = answer.json.error
        return `${code} ${named}`
      }
      assert.is(answer.status === 200 ? answer.headers['content-type'] : said(), expected)
    },
  )

test.run()
