// Tables of a MariaDB server as sources: exact, read only, in words when it is not well, and never for ever.
// Alone in its process: the server ends when that does.

import { readFile } from 'node:fs/promises'
import { createServer, type Socket } from 'node:net'
import * as assert from 'uvu/assert'
import { test } from 'uvu'
import { extensionCache, withExtensions } from '../support/extension-cache.ts'
import { mariaDbTest, startMariaDb } from '../support/mariadb.ts'
import { rowsOf, runResults } from '../support/run-results.ts'
import { workspace } from '../support/workspace.ts'

const PASSWORD = 'pw-of-reader'
const env = { EIDER_EXTENSIONS: extensionCache, SOURCE_SHOP_PASSWORD: PASSWORD }

const TABLES = `
CREATE DATABASE shop CHARACTER SET utf8mb4; USE shop;
CREATE USER reader@'%' IDENTIFIED BY '${PASSWORD}'; GRANT ALL ON shop.* TO reader@'%';
CREATE TABLE kinds (small TINYINT(1), big BIGINT UNSIGNED, one BIT(1), bits BIT(9), money DECIMAL(20,4),
  wide DECIMAL(65,30), day DATE, moment DATETIME(6), instant TIMESTAMP(6) NULL, clock TIME, data JSON,
  choice ENUM('a','b'), bytes VARBINARY(4), text VARCHAR(20));
SET time_zone = '+05:00';
INSERT INTO kinds VALUES (2, 18446744073709551615, 1, b'100000001', 1234567890123456.7891, NULL, '2024-02-29',
  '2024-02-29 12:34:56.123456', '2024-02-29 12:00:00.5', '-100:30:01', '{"a":1.10}', 'b', x'00ff', 'zoë😀');
CREATE TABLE names (name VARCHAR(10), id INT); INSERT INTO names VALUES ('a',1),('A',2),('b ',3),('b',4),('é',5),('e',6);
SET sql_mode = ''; CREATE TABLE dates (id INT, day DATE);
INSERT INTO dates VALUES (1, '0000-00-00'), (2, '2024-00-10');
CREATE TABLE aged (id INT, at TIMESTAMP NULL); INSERT INTO aged VALUES (1, NOW() - INTERVAL 9 DAY);
CREATE VIEW slow AS SELECT id, SLEEP(5) AS waited FROM names;
`

const model = (table: string, columns = '*') => ({
  [`models/core/${table}.sql`]: `SELECT ${columns} FROM shop.${table}\n`,
})

mariaDbTest(
  'tables of a server: exact, read only, and each failure costs its readers alone',
  async () => {
    await using server = await startMariaDb()
    server.run(TABLES)
    const url = (database: string, port = server.port) =>
      `mysql://reader@127.0.0.1:${port}/${database}`
    await using space = await workspace({
      'eider.yml': `name: t
sources:
  shop:
    mysql: ${url('shop')}
    timeout: 2 seconds
    tables: {kinds: , wide: , names: , dates: , slow: , none: , aged: {loaded_at: at, error_after: 1 week}}
  gone: {mysql: '${url('gone')}', tables: {t: }}
  wrong: {mysql: '\${WRONG_URL}', tables: {t: }}
  nobody: {mysql: '${url('shop', 1)}', tables: {t: }}
`,
      ...model('kinds', '* EXCLUDE (wide)'),
      ...model('names'),
      ...model('dates'),
      ...model('slow'),
      ...model('aged'),
      ...model('none'),
      'models/core/equal.sql': "SELECT id FROM shop.names WHERE name = 'A'\n",
      'models/core/like.sql':
        "SELECT id FROM shop.names WHERE name LIKE 'B%' OR name > 'b' ORDER BY name LIMIT 9\n",
      'models/core/least.sql':
        'SELECT min(name) AS least, count(DISTINCT name) AS names FROM shop.names\n',
      'models/core/gone.sql': 'SELECT * FROM gone.t\n',
      'models/core/wrong.sql': 'SELECT * FROM wrong.t\n',
      'models/core/nobody.sql': 'SELECT * FROM nobody.t\n',
      'models/core/write.sql':
        "SELECT * FROM mysql_query('_eider_source_shop', 'DELETE FROM names')\n",
      'models/core/own.sql': 'SELECT 1 AS one\n',
    })
    const own = {
      ...env,
      SOURCE_GONE_PASSWORD: PASSWORD,
      WRONG_URL: `mysql://reader:hush-hush@127.0.0.1:${server.port}/shop`,
    }
    const { models, text } = await runResults(space, own, 1)
    const says = (name: string, pattern: RegExp) =>
      assert.match(models[`core.${name}`] ?? 'no result', pattern, name)
    for (const name of ['kinds', 'names', 'equal', 'like', 'least', 'own'])
      says(name, /^first build$/)
    says(
      'dates',
      /shop\.dates\.day has 2024-00-10, a date without a month or a day; read a view instead of dates, with IF\(MONTH\(day\) \* DAYOFMONTH\(day\) = 0, NULL, day\) AS day/,
    )
    says(
      'slow',
      /the source "shop" cannot be read: 127\.0\.0\.1:\d+ takes longer than 2 seconds for a st/,
    )
    says('aged', /shop\.aged was last loaded at .*, error_after 1 week/)
    says('none', /its database has no table "none" that reader can see in shop/)
    says('gone', /has no database "gone" that reader may read/)
    says('wrong', /the server of \$\{WRONG_URL\} refuses the password of 'reader'@'[\w.]+'/)
    says('nobody', /nothing listens at 127\.0\.0\.1:1/)
    says('write', /mysql_query reads what no source of eider\.yml names/)
    assert.not(text.includes('hush-hush') || text.includes(PASSWORD))
    assert.equal(await rowsOf(space, own, 'FROM core.kinds'), [
      {
        small: 2,
        big: '18446744073709551615',
        one: true,
        bits: '\\x01\\x01',
        money: '1234567890123456.7891',
        day: '2024-02-29',
        moment: '2024-02-29 12:34:56.123456',
        instant: '2024-02-29 07:00:00.5',
        clock: '-100:30:01',
        data: '{"a":1.10}',
        choice: 'b',
        bytes: '\\x00\\xFF',
        text: 'zoë😀',
      },
    ])
    const found = await rowsOf(
      space,
      own,
      `SELECT (FROM core.equal) AS equal, (SELECT list_sort(list(id)) FROM core.like) AS likes, l.* FROM core.least l`,
    )
    assert.equal(found, [{ equal: 2, likes: [3, 5, 6], least: 'A', names: '6' }])
    // What the hint says.
    server.run(
      'CREATE VIEW shop.dated AS SELECT id, IF(MONTH(day) * DAYOFMONTH(day) = 0, NULL, day) AS day FROM shop.dates',
    )
    await space.write(
      'eider.yml',
      (await readFile(space.path('eider.yml'), 'utf8')).replace('dates: ,', 'dated: ,'),
    )
    await space.write('models/core/dates.sql', 'SELECT * FROM shop.dated\n')
    await space.ok(['run', 'core.dates'], { env: own })
    server.run("INSERT INTO shop.kinds (wide) VALUES ('1.5')")
    await space.write('models/core/kinds.sql', 'SELECT wide FROM shop.kinds\n')
    const wide = await space.ok(['run', 'core.kinds'], { env: own, exitCode: 1 })
    assert.match(wide.stderr, /shop\.kinds\.wide is a decimal\(65,30\), whose digits would be lost/)
    // It keeps its connections and says nothing more, as a machine that hangs.
    server.signal('SIGSTOP')
    try {
      const hung = await runResults(space, own, 1)
      assert.match(hung.models['core.names'] ?? '', /127\.0\.0\.1:\d+ does not answer \(10 s\)/)
      assert.is(hung.models['core.own'], 'unchanged')
    } finally {
      server.signal('SIGCONT')
    }
  },
)

withExtensions(
  test,
  ['mysql_scanner', 'postgres_scanner'],
  'servers that take a connection and say nothing cost their readers alone, side by side',
  async () => {
    const sockets = new Set<Socket>()
    const silent = createServer((socket) => sockets.add(socket.on('error', () => undefined)))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as { port: number }
    try {
      await using space = await workspace({
        'eider.yml': `name: t
sources:
  one: {mysql: 'mysql://reader@127.0.0.1:${port}/shop', tables: {t: }}
  two: {postgres: 'postgres://reader@127.0.0.1:${port}/shop', tables: {t: }}
  three: {postgres: 'postgres://reader@no-such-host.invalid/shop', tables: {t: }}
`,
        'models/core/one.sql': 'SELECT * FROM one.t\n',
        'models/core/two.sql': 'SELECT * FROM two.t\n',
        'models/core/three.sql': 'SELECT * FROM three.t\n',
        'models/core/own.sql': 'SELECT 1 AS one\n',
      })
      const began = Date.now()
      const { models } = await runResults(space, env, 1)
      assert.match(models['core.one'] ?? '', /127\.0\.0\.1:\d+ does not answer \(10 s\)/)
      assert.match(models['core.two'] ?? '', /127\.0\.0\.1:\d+ does not answer \(10 s\)/)
      assert.match(models['core.three'] ?? '', /the host of no-such-host\.invalid:5432 is unknown/)
      assert.is(models['core.own'], 'first build')
      assert.ok(Date.now() - began < 40_000, 'they are waited for once, and side by side')
    } finally {
      for (const socket of sockets) socket.destroy()
      silent.close()
    }
  },
)

test.run()
