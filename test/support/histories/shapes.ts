// The models of random histories. `{f}` stands for a factor that an edit changes, `{v}` for the name of a column that gets
// others, so that a value says which rule has made it, `{files}` for the directory of the files of a history.

export interface Shape {
  readonly header: string
  readonly body: string
  /** The column by which it reads a part of its input. */
  readonly column?: string
  /** Of which type that is; times take a range of days. */
  readonly is?: 'time' | 'number'
  /** The key by which a merge keeps rows that are gone from its SELECT. */
  readonly keeps?: string
  /** A range of it can be replaced: no key of a row lies outside. */
  readonly takesRange?: boolean
  /** What it has depends on when runs were. */
  readonly tellsRuns?: true
  /** Its versions are those that the times of its rows say, whenever runs were. */
  readonly isTimed?: true
  /** Of the rows of a key it keeps the newest. */
  readonly isNewest?: true
  /** Rows older than so many days go. */
  readonly keepDays?: number
}

const LAST =
  'FROM raw.e QUALIFY row_number() OVER (PARTITION BY id ORDER BY version DESC) = 1 AND NOT gone'

/** Tables and views that others read. */
const inputs: Readonly<Record<string, Shape>> = {
  'core.t': {
    header: '-- @kind: table\n',
    body: `SELECT id, ts, day, amount * {f} AS amount ${LAST}`,
  },
  'core.mirror': {
    header: '-- @kind: merge\n-- @unique_key: id\n-- @deletes: mirror\n',
    body: 'SELECT id, ts, day, amount * {f} AS amount FROM core.t',
  },
  'core.kept': {
    header: '-- @kind: merge\n-- @unique_key: id\n',
    body: 'FROM core.t',
    keeps: 'id',
  },
  'core.versions': { header: '-- @kind: scd2\n-- @unique_key: id\n', body: 'FROM core.t' },
  'core.days': {
    header: '-- @kind: table\n',
    body: 'SELECT day, count(*) * {f} AS orders FROM core.t GROUP BY day',
  },
  'core.lines': {
    header: '-- @kind: table\n',
    body: "SELECT id, version, ts, day, amount * {f} AS amount FROM read_csv('{files}/*.csv', header = true, columns = {'id': 'INTEGER', 'version': 'INTEGER', 'ts': 'TIMESTAMPTZ', 'day': 'DATE', 'amount': 'INTEGER'})",
  },
  'stage.e': {
    header: '-- @kind: view\n',
    body: 'SELECT id, version, ts, day, amount * {f} AS amount FROM raw.e',
  },
  'stage.t': {
    header: '-- @kind: view\n',
    body: 'SELECT id, ts AS happened, amount * {f} AS amount FROM core.t',
  },
  'stage.all': {
    header: '-- @kind: view\n',
    body: 'SELECT id, day, amount FROM core.mirror UNION ALL SELECT id, day, amount * {f} FROM core.kept',
  },
}

const append = (column: string, is: 'time' | 'number' = 'time') =>
  ({
    header: `-- @kind: append\n-- @incremental: ${column}\n`,
    column,
    is,
    takesRange: true,
  }) as const

const keyed = (column: string, key: string, is: 'time' | 'number' = 'time') => {
  const shape = append(column, is)
  return { ...shape, header: `${shape.header}-- @unique_key: ${key}\n` } as const
}

const sums = (column: string) =>
  ({
    header: `-- @kind: merge\n-- @unique_key: ${column}\n-- @incremental: ${column}\n`,
    column,
    is: 'time',
    takesRange: true,
  }) as const

const periods = (unit: string, column: string) =>
  ({
    header: `-- @kind: period\n-- @period: ${unit} of ${column}\n`,
    column,
    is: 'time',
    takesRange: true,
  }) as const

const keeping = <S extends Omit<Shape, 'body'>>(shape: S, days: number) =>
  ({ ...shape, header: `${shape.header}-- @keep: ${days} days\n`, keepDays: days }) as const

/** Models that read a part of their input. */
export const readers: Readonly<Record<string, Shape>> = {
  'mart.log': { ...append('ts'), body: 'SELECT ts, amount * {f} AS {v} FROM raw.e' },
  'mart.seen': { ...append('ts'), body: 'SELECT ts, amount * {f} AS {v} FROM stage.e' },
  'mart.recent': {
    ...keeping(append('ts'), 12),
    body: 'SELECT ts, amount * {f} AS {v} FROM stage.e',
  },
  'mart.few': {
    ...keeping(periods('day', 'day'), 9),
    body: 'SELECT ts::DATE AS day, sum(amount) * {f} AS {v} FROM stage.e GROUP BY 1',
  },
  'mart.recent_days': {
    ...periods('day', 'day'),
    body: 'SELECT ts::DATE AS day, count(*) * {f} AS {v} FROM mart.recent GROUP BY 1',
  },
  'mart.keyed': {
    ...keyed('ts', 'id, version'),
    body: 'SELECT id, version, ts, day, amount * {f} AS amount FROM stage.e',
  },
  'mart.chained': {
    ...keyed('day', 'id, version'),
    body: 'SELECT id, version, day, id * {f} AS {v} FROM mart.keyed',
  },
  'mart.state': {
    header: '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts\n',
    column: 'ts',
    is: 'time',
    body: 'SELECT id, ts, day, amount * {f} AS {v} FROM core.mirror',
  },
  'mart.changes': { ...append('ts'), body: 'SELECT ts, amount * {f} AS {v} FROM core.mirror' },
  'mart.firsts': {
    ...keyed('ts', 'id'),
    takesRange: false,
    body: 'SELECT id, ts, amount * {f} AS amount FROM core.t',
  },
  'mart.large': {
    header: '-- @kind: merge\n-- @unique_key: id\n-- @incremental: day\n',
    column: 'day',
    is: 'time',
    body: 'SELECT id, day, amount * {f} AS {v} FROM core.t WHERE amount > 40',
  },
  'mart.lines': { ...append('ts'), body: 'SELECT ts, amount * {f} AS {v} FROM core.lines' },
  'mart.lined': {
    ...keyed('ts', 'id, version'),
    body: 'SELECT id, version, ts, day, amount * {f} AS amount FROM core.lines',
  },
  'mart.line_days': {
    ...periods('day', 'day'),
    body: 'SELECT day, sum(amount) * {f} AS {v} FROM core.lines GROUP BY day',
  },
  'mart.daily': {
    ...sums('day'),
    body: "SELECT date_trunc('day', happened) AS day, sum(amount) * {f} AS {v} FROM stage.t GROUP BY 1",
  },
  'mart.both': {
    ...sums('day'),
    body: 'SELECT day, sum(amount) * {f} AS {v} FROM stage.all GROUP BY day',
  },
  'mart.current': {
    ...sums('day'),
    body: 'SELECT ts::DATE AS day, sum(amount) * {f} AS {v} FROM core.versions WHERE is_current GROUP BY 1',
  },
  'mart.oslo': {
    ...periods('day', 'day'),
    body: "SELECT (happened AT TIME ZONE 'Europe/Oslo')::DATE AS day, sum(amount) * {f} AS amount FROM stage.t GROUP BY 1",
  },
  'mart.weekly': {
    ...periods('week', 'day'),
    body: 'SELECT d.day, d.orders, sum(t.amount) * {f} AS {v} FROM core.days d JOIN core.mirror t ON t.ts::DATE = d.day GROUP BY ALL',
  },
  'mart.monthly': {
    ...periods('month', 'month'),
    body: "SELECT date_trunc('month', day)::DATE AS month, sum(amount) * {f} AS {v} FROM mart.oslo GROUP BY 1",
  },
  'mart.bucketed': {
    ...periods('day', 'at_time'),
    body: "SELECT time_bucket(INTERVAL '6 hours', ts) AS at_time, count(*) * {f} AS {v} FROM raw.e GROUP BY 1",
  },
  'mart.places': {
    ...periods('day', 'day'),
    body: 'SELECT ts::DATE AS day, id, version, rank() OVER (PARTITION BY ts::DATE ORDER BY amount, id, version) * {f} AS {v} FROM stage.e',
  },
  'mart.before': {
    header: '-- @kind: merge\n-- @unique_key: id, version\n-- @incremental: ts\n',
    column: 'ts',
    is: 'time',
    body: 'SELECT id, version, ts, before * {f} AS {v} FROM mart.lagged',
  },
  'mart.latest': {
    header:
      '-- @kind: merge\n-- @unique_key: id\n-- @incremental: ts\n-- @on_duplicate: latest(ts)\n',
    column: 'ts',
    is: 'time',
    isNewest: true,
    body: 'SELECT id, ts, amount * {f} AS {v} FROM stage.e',
  },
  'mart.timed': {
    header: '-- @kind: scd2\n-- @unique_key: id\n-- @valid_from: ts\n-- @deletes: keep\n',
    isTimed: true,
    body: 'SELECT id, version, ts, amount * {f} AS {v} FROM stage.e',
  },
  'mart.numbers': {
    ...keyed('id', 'id, version', 'number'),
    body: 'SELECT id, version, amount * {f} AS {v} FROM stage.e',
  },
}

const table = (body: string): Shape => ({ header: '-- @kind: table\n', body })

/** Tables that a run keeps up to date by what changed in the tables above. */
export const updated: Readonly<Record<string, Shape>> = {
  'mart.grouped': table(
    'SELECT day, sum(amount) * {f} AS amount, count(*) AS orders FROM core.t GROUP BY day',
  ),
  'mart.joined': table(
    'SELECT t.id, t.day, d.orders, t.amount * {f} AS amount FROM core.mirror AS t JOIN core.days AS d ON d.day = t.day',
  ),
  'mart.left': table(
    'SELECT e.id, e.version, e.amount * {f} AS amount, k.amount AS now FROM raw.e AS e LEFT JOIN core.kept AS k ON k.id = e.id',
  ),
  'mart.summed': {
    ...table(
      'SELECT s.id, count(v.id) * {f} AS versions, max(s.amount) AS amount FROM stage.e AS s LEFT JOIN core.versions AS v ON v.id = s.id GROUP BY s.id',
    ),
    tellsRuns: true,
  },
  'mart.distinct': table('SELECT DISTINCT day, amount * {f} > 60 AS big FROM stage.e'),
  'mart.ranked': table(
    'SELECT id, version, rank() OVER (PARTITION BY id ORDER BY ts, version) * {f} AS nth FROM raw.e',
  ),
  'mart.lagged': table(
    'SELECT id, version, ts, lag(amount) OVER (PARTITION BY id ORDER BY ts, version) * {f} AS before FROM stage.e',
  ),
  'mart.first': table(
    'SELECT day, id, amount * {f} AS amount FROM stage.all QUALIFY row_number() OVER (PARTITION BY day ORDER BY amount, id) = 1',
  ),
  'mart.union': table(
    'SELECT id, day, {f} AS factor FROM core.kept UNION ALL SELECT id, day, 0 FROM core.versions WHERE is_current',
  ),
  'mart.filtered': table(
    'SELECT id, day, amount * {f} AS amount FROM mart.keyed WHERE amount > 30',
  ),
  'mart.weeks': table(
    "SELECT date_trunc('week', day) AS week, count(*) * {f} AS days FROM mart.few GROUP BY 1",
  ),
  'mart.rest': table('SELECT ts::DATE AS day, count(*) * {f} AS n FROM mart.recent GROUP BY 1'),
  'mart.linked': table(
    'SELECT g.orders, count(*) * {f} AS days FROM mart.grouped AS g GROUP BY g.orders',
  ),
  'mart.line_sums': table(
    'SELECT day, sum(amount) * {f} AS amount, count(*) AS n FROM core.lines GROUP BY day',
  ),
  'mart.anti': table(
    'SELECT m.id, m.day, {f} AS factor FROM core.mirror AS m ANTI JOIN mart.first AS f ON f.id = m.id',
  ),
}

export const EVENTS =
  '-- @kind: events\nid INTEGER,\nversion INTEGER,\nts TIMESTAMPTZ,\nday DATE,\namount INTEGER,\ngone BOOLEAN'

/** What they keep of events that are gone is not told from the rest by a time. */
export const outlasting: readonly string[] = [
  'mart.numbers',
  'mart.timed',
  'mart.firsts',
  'mart.latest',
]

export const shapes: Readonly<Record<string, Shape>> = {
  ...inputs,
  ...readers,
  ...updated,
}

/** What a SELECT reads, directly or through others. */
export function below(names: readonly string[]): readonly string[] {
  const found = new Set<string>()
  const add = (name: string) => {
    if (found.has(name)) return
    found.add(name)
    const { body } = shapes[name]!
    for (const input of Object.keys(shapes)) if (new RegExp(`\\b${input}\\b`).test(body)) add(input)
  }
  names.forEach(add)
  return Object.keys(shapes).filter((name) => found.has(name))
}
