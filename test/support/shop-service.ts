// A project whose rows are few enough to know by heart, served by the built command line.

import * as assert from 'uvu/assert'
import { type Running, type Workspace, workspace } from './workspace.ts'

const shopModels: Readonly<Record<string, string>> = {
  'eider.yml': 'name: acceptance\n',
  'models/shop/customers.sql': `-- @kind: table
-- @expose customer_id
-- @description: People & firms that <buy>
SELECT * FROM (VALUES
  (1, 'Alice', 'Berlin', true),
  (2, 'O''Neil', NULL, false),
  (3, 'Zoë', '', NULL),
  (4, '100% sure_thing', 'a\\b;c--d', true)
) AS v(customer_id, name, city, vip)`,
  'models/shop/orders.sql': `-- @kind: table
-- @expose order_id
SELECT * FROM (VALUES
  (10, 1, 'open', 100.50::DECIMAL(18,4), 3, TIMESTAMP '2026-01-01 08:30:00', DATE '2026-01-01'),
  (11, 1, 'paid', 20.00, 4, TIMESTAMP '2026-01-02 00:00:00', DATE '2026-01-02'),
  (12, 2, 'paid', NULL, NULL, NULL, NULL),
  (13, NULL, NULL, 0.00, 6, TIMESTAMP '2025-12-31 23:59:59.123456', DATE '2025-12-31'),
  (14, 9, 'open', 20.00, 5, TIMESTAMP '2026-01-03 12:00:00', DATE '2026-01-03')
) AS v(order_id, customer_id, status, amount, flags, ordered_at, ordered_on)`,
  'models/shop/types.sql': `-- @kind: table
-- @expose id
SELECT
  id::INTEGER AS id, v::VARCHAR AS v, t::TINYINT AS t, s::SMALLINT AS s, i::INTEGER AS i, b::BIGINT AS b,
  d::DOUBLE AS d, f::FLOAT AS f, n::DECIMAL(38,10) AS n, bo::BOOLEAN AS bo, dt::DATE AS dt, ts::TIMESTAMP AS ts,
  small::TINYINT AS small, level::ENUM('low', 'high') AS level
FROM (VALUES
  (1, 'text', -5, -300, 70000, 9007199254740993, '1.7e308', '3.14', '250.50', true, '2026-01-01', '2026-01-01 08:30:00', 0, 'low'),
  (2, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
  (3, '', 127, 32767, -2147483648, -9223372036854775808, 'NaN', 'inf', '1234567890123456789012345678.0123456789', false, '0044-03-15', '2026-01-01 00:00:00', 127, 'high'),
  (4, 'quote " back \\ tab ' || chr(9) || ' control ' || chr(1) || ' é 😀', 5, 1, 1, 1, '-inf', '0.125', '-0.0000000001', false, '9999-12-31', '2025-06-30 23:59:59.5', 7, 'low')
) AS r(id, v, t, s, i, b, d, f, n, bo, dt, ts, small, level)`,
  'models/shop/keyless.sql': '-- @expose\nSELECT * FROM (VALUES (1, 2), (1, 2)) AS v(a, b)',
  'models/shop/hidden.sql': `SELECT 'secret-7f3a' AS secret, 1 AS hidden_id`,
}

export interface ShopService extends AsyncDisposable {
  readonly space: Workspace
  readonly base: string
  readonly running: Running
}

/** Builds the project, with more files, and serves it on a free port. */
export async function serveShop(more: Readonly<Record<string, string>> = {}): Promise<ShopService> {
  const space = await workspace({ ...shopModels, ...more })
  await space.ok(['run'])
  const running = await space.start(['serve', '--port', '0', '--quiet'])
  return {
    space,
    running,
    base: running.url,
    [Symbol.asyncDispose]: () => space[Symbol.asyncDispose]() as Promise<void>,
  }
}

interface Answer {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  readonly json: JsonObject
}

interface JsonObject {
  readonly [name: string]: unknown
  readonly value: readonly Readonly<Record<string, unknown>>[]
  readonly error: { readonly code: string; readonly message: string; readonly target?: string }
}

/** Asks for a path below /odata. Blanks are encoded; anything else is sent as written. */
export async function ask(base: string, path: string, init: RequestInit = {}): Promise<Answer> {
  const url = base + (path === '' ? '' : `/${path.replaceAll(' ', '%20')}`)
  const response = await fetch(url, init)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    get json() {
      return JSON.parse(text) as JsonObject
    },
  }
}

/** Questions to one service, for tests: each fails with the answer in its message. */
export function client(base: string) {
  const get = (path: string, headers: Record<string, string> = {}) => ask(base, path, { headers })
  const rows = async (path: string): Promise<Answer['json']['value']> => {
    const answer = await get(path)
    assert.is(answer.status, 200, `${path}: ${answer.text}`)
    return answer.json.value
  }
  return {
    get,
    rows,
    /** The values of `key` in the rows that match. */
    where: async (set: string, key: string, filter: string): Promise<readonly unknown[]> =>
      (await rows(`${set}?$filter=${filter}`)).map((row) => row[key]),
    /** The error of a request that must be refused, and must not say what the engine or the disk said. */
    refused: async (path: string, status = 400): Promise<Answer['json']['error']> => {
      const answer = await get(path)
      assert.is(answer.status, status, `${path}: ${answer.text.slice(0, 300)}`)
      const { error } = answer.json
      assert.ok(error.code !== '' && error.message !== '', answer.text)
      assert.not.match(
        answer.text,
        /duckdb|binder|catalog error|\/tmp\/|node_modules| at .*:\d+:\d+/i,
      )
      return error
    },
  }
}
