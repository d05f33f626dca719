// The whole path on data that nobody here made: the files of vega-datasets, posted as events and loaded as seeds, read
// back over OData and compared with the engine reading the same files directly.

import { readFileSync } from 'node:fs'
import { copyFile, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { type Sql, sql } from '../src/core/sql.ts'
import { Database } from '../src/duckdb/database.ts'
import type { Row } from '../src/duckdb/values.ts'
import { startDaemon } from './support/daemon-process.ts'
import { repository, type Running, type Workspace, workspace } from './support/workspace.ts'

const dataDir = join(repository, 'node_modules', 'vega-datasets', 'data')

const flightsProject = {
  'eider.yml': 'name: flights\n',
  'models/raw/flights.sql': `-- @kind: events
flight_id INTEGER NOT NULL, date VARCHAR NOT NULL, delay INTEGER, distance INTEGER,
origin VARCHAR NOT NULL, destination VARCHAR NOT NULL, received_at TIMESTAMPTZ`,
  'models/core/flights.sql': `-- @kind: merge
-- @unique_key: flight_id
-- @expose flight_id
SELECT flight_id, strptime(date, '%Y/%m/%d %H:%M') AS departed_at, delay, distance, origin, destination
FROM raw.flights`,
  'models/mart/airports.sql': `-- @expose iata
SELECT airports.iata, airports.name, airports.city, airports.latitude, airports.longitude,
  count(flight_id) AS departures, sum(distance)::BIGINT AS distance, max(delay) AS worst_delay
FROM ref.airports AS airports LEFT JOIN core.flights ON origin = iata
GROUP BY ALL`,
}

test('flights as events, airports as a seed', async () => {
  await using space = await workspace(flightsProject)
  await seed(space, 'airports.csv', 'ref/airports.csv')
  const flights = (readJson('flights-5k.json') as object[]).map((flight, i) => ({
    flight_id: i + 1,
    ...flight,
  }))
  await collectAndRun(space, 'raw/flights', flights)
  await using service = await space.start(['serve', '--port', '0', '--page-size', '700'])

  const file = join(dataDir, 'flights-5k.json')
  const flightsUrl = `${service.url}/core_flights`
  assert.is(await servedCount(flightsUrl), 5000)
  assert.is(
    await servedCount(flightsUrl, 'delay gt 60'),
    await directCount(sql`FROM read_json(${sql.value(file)}) WHERE delay > 60`),
  )

  const pages = await allPages(flightsUrl)
  assert.is(pages.length, Math.ceil(5000 / 700))
  assert.equal(
    pages.flat(),
    await direct(sql`
      SELECT row_number() OVER ()::INTEGER AS flight_id,
        strftime(strptime(date, '%Y/%m/%d %H:%M'), '%Y-%m-%dT%H:%M:%SZ') AS departed_at,
        delay::INTEGER AS delay, distance::INTEGER AS distance, origin, destination
      FROM read_json(${sql.value(file)})`),
  )
  assert.equal(
    (
      await allPages(
        `${service.url}/mart_airports?$filter=departures gt 0&$orderby=departures desc,iata`,
      )
    ).flat(),
    await direct(sql`
      SELECT iata, name, city, latitude, longitude, count(*)::INTEGER AS departures,
        sum(distance)::INTEGER AS distance, max(delay)::INTEGER AS worst_delay
      FROM read_json(${sql.value(file)})
      JOIN read_csv(${sql.value(join(dataDir, 'airports.csv'))}) ON iata = origin
      GROUP BY ALL ORDER BY departures DESC, iata`),
  )
})

const movieColumns = {
  title: sql`"Title" ->> '$'`,
  us_gross: sql`"US Gross"`,
  budget: sql`"Production Budget"`,
  released: sql`"Release Date"`,
  rating: sql`"MPAA Rating"`,
  director: sql`"Director"`,
  imdb: sql`"IMDB Rating"`,
  votes: sql`"IMDB Votes"`,
}

const selectMovies = sql.join(
  Object.entries(movieColumns).map(([name, value]) => sql`${value} AS ${sql.ident(name)}`),
)

const moviesProject = {
  'eider.yml': 'name: movies\n',
  // Nine titles of the file are numbers, such as 1776; names have spaces.
  'models/raw/movies.sql': `-- @kind: events
movie_id INTEGER NOT NULL, "Title" JSON, "US Gross" BIGINT, "Production Budget" BIGINT,
"Release Date" VARCHAR NOT NULL, "MPAA Rating" VARCHAR, "Director" VARCHAR,
"IMDB Rating" DOUBLE, "IMDB Votes" INTEGER`,
  'models/core/movies.sql': `-- @expose movie_id
SELECT movie_id, ${selectMovies.inline()} FROM raw.movies`,
  'models/core/seed_movies.sql': `-- @expose
SELECT ${selectMovies.inline()} FROM ref.movies`,
}

test('movies as events and as a seed, with nulls and titles that are numbers', async () => {
  await using space = await workspace(moviesProject)
  await seed(space, 'movies.json', 'ref/movies.json')
  const movies = (readJson('movies.json') as object[]).map((movie, i) => ({
    movie_id: i + 1,
    ...movie,
  }))
  await collectAndRun(space, 'raw/movies', movies)
  await using service = await space.start(['serve', '--port', '0'])

  const file = sql`read_json(${sql.value(join(dataDir, 'movies.json'))})`
  const numbered = sql`SELECT row_number() OVER ()::INTEGER AS movie_id, ${selectMovies} FROM ${file}`
  const expected = await direct(numbered)
  const [page, ...more] = await allPages(`${service.url}/core_movies`)
  assert.is(more.length, 0)
  assert.equal(page, asJsonNumbers(expected, ['us_gross', 'budget', 'votes']))
  const [seeded] = await allPages(`${service.url}/core_seed_movies`)
  const withId = seeded!.map((movie, i) => ({ movie_id: i + 1, ...movie }))
  assert.equal(withId, page)

  for (const [filter, condition] of [
    [`director eq 'Steven Spielberg'`, sql`director = 'Steven Spielberg'`],
    [`rating eq null`, sql`rating IS NULL`],
    [`contains(title,'''')`, sql`contains(title, '''')`],
    [`title in ('1776','300')`, sql`title IN ('1776', '300')`],
    [`imdb ge 8.5 and not (votes lt 100000)`, sql`imdb >= 8.5 AND (votes < 100000) IS NOT TRUE`],
  ] as const) {
    const count = await directCount(sql`FROM (${numbered}) WHERE ${condition}`)
    assert.ok(count > 0, filter)
    assert.is(await servedCount(`${service.url}/core_movies`, filter), count, filter)
  }
})

test('weather as a seed, with a key of two columns', async () => {
  await using space = await workspace({
    'eider.yml': 'name: weather\n',
    'models/core/weather.sql': '-- @expose location, date\nSELECT * FROM ref.weather',
  })
  await seed(space, 'weather.csv', 'ref/weather.csv')
  await space.ok(['run'])
  await using service = await space.start(['serve', '--port', '0'])

  const file = sql.value(join(dataDir, 'weather.csv'))
  const url = `${service.url}/core_weather`
  const query = '$filter=precipitation gt 0&$orderby=precipitation desc,date&$top=50&$count=true'
  const answer = (await json(`${url}?${query}`)) as { '@odata.count': number; value: Row[] }
  assert.equal(
    answer.value,
    await direct(
      sql`FROM read_csv(${file}) WHERE precipitation > 0 ORDER BY precipitation DESC, date LIMIT 50`,
    ),
  )
  const wet = sql`FROM read_csv(${file}) WHERE precipitation > 0`
  assert.is(answer['@odata.count'], await directCount(wet))
  const day = (await json(`${url}(location='New York',date=2013-02-08)`)) as Row
  const [sameDay] = await direct(
    sql`FROM read_csv(${file}) WHERE location = 'New York' AND date = DATE '2013-02-08'`,
  )
  assert.equal({ ...day, '@odata.context': undefined }, { ...sameDay, '@odata.context': undefined })
})

/** Posts the first half as NDJSON and the second as JSON arrays, with runs after each, and checks that all arrive. */
async function collectAndRun(
  space: Workspace,
  target: string,
  events: readonly object[],
): Promise<void> {
  await using daemon = await startDaemon(space)
  const env = { COLLECT_ADMIN_PORT: new URL(daemon.adminUrl!).port }
  const half = Math.floor(events.length / 2)
  for (let at = 0; at < events.length; at += 500) {
    const batch = events.slice(at, at + 500)
    if (at <= half && half < at + 500) await space.ok(['run'], { env })
    await post(daemon, target, batch, at < half)
  }
  await space.ok(['run'], { env })
  assert.is(await daemon.stop(), 0)
}

async function post(
  daemon: Running,
  target: string,
  events: readonly object[],
  lines: boolean,
): Promise<void> {
  const response = await fetch(`${daemon.url}/collect/${target}/batch`, {
    method: 'POST',
    headers: { 'Content-Type': lines ? 'application/x-ndjson' : 'application/json' },
    body: lines ? events.map((event) => JSON.stringify(event)).join('\n') : JSON.stringify(events),
  })
  assert.is(`${response.status} ${await response.text()}`, `202 {"accepted":${events.length}}`)
}

async function seed(space: Workspace, file: string, path: string): Promise<void> {
  await mkdir(space.path('seeds', 'ref'), { recursive: true })
  await copyFile(join(dataDir, file), space.path('seeds', path))
}

const readJson = (file: string): unknown => JSON.parse(readFileSync(join(dataDir, file), 'utf8'))

/** What the engine says about the files, without any of the code under test but its door. */
async function direct(query: Sql): Promise<readonly Row[]> {
  await using database = await Database.open({ path: ':memory:' })
  await using connection = await database.connect()
  return await connection.rows(query)
}

async function directCount(rows: Sql): Promise<number> {
  const [row] = await direct(sql`SELECT count(*)::INTEGER AS n ${rows}`)
  return row!['n'] as number
}

async function servedCount(url: string, filter: string | null = null): Promise<number> {
  return Number(await text(`${url}/$count${filter === null ? '' : `?$filter=${filter}`}`))
}

/** The rows of the door give BIGINT as text, to keep it exact; those of these files are small. */
function asJsonNumbers(rows: readonly Row[], names: readonly string[]): readonly Row[] {
  const converted = (row: Row) =>
    names.map((name) => [name, row[name] === null ? null : Number(row[name])] as const)
  return rows.map((row) => ({ ...row, ...Object.fromEntries(converted(row)) }))
}

async function allPages(url: string): Promise<readonly Row[][]> {
  const pages: Row[][] = []
  for (let next: string | undefined = url; next !== undefined;) {
    const page = (await json(next)) as { value: Row[]; '@odata.nextLink'?: string }
    pages.push(page.value)
    next = page['@odata.nextLink']
  }
  return pages
}

const json = async (url: string): Promise<unknown> => JSON.parse(await text(url))

async function text(url: string): Promise<string> {
  const response = await fetch(url.replaceAll(' ', '%20'))
  const body = await response.text()
  assert.is(response.status, 200, `${url}\n${body}`)
  return body
}

test.run()
