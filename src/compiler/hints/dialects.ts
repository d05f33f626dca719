// Words of other SQL dialects that DuckDB does not have, each with what to write. DuckDB itself would suggest a function
// that is spelt alike: get_type for getdate, to_hours for to_char.

/** By name in lower case: what to write in DuckDB; `x` is the column that the call is about. */
const functions: Readonly<Record<string, string>> = {
  getdate: 'current_timestamp',
  getutcdate: "now() AT TIME ZONE 'UTC'",
  sysdate: 'current_timestamp',
  sysdatetime: 'current_timestamp',
  systimestamp: 'current_timestamp',
  current_datetime: 'current_timestamp',
  curdate: 'current_date',
  unix_timestamp: 'epoch(x)',
  from_unixtime: 'to_timestamp(x)',
  to_char: "strftime(x, '%Y-%m-%d')",
  to_varchar: "x::VARCHAR, or strftime(x, '%Y-%m-%d')",
  date_format: "strftime(x, '%Y-%m-%d')",
  format_date: "strftime(x, '%Y-%m-%d')",
  format_timestamp: "strftime(x, '%Y-%m-%d %H:%M:%S')",
  to_date: "x::DATE, or strptime(x, '%d.%m.%Y')::DATE",
  try_to_date: "try_strptime(x, '%Y-%m-%d')::DATE",
  str_to_date: "strptime(x, '%d.%m.%Y')",
  parse_date: "strptime(x, '%d.%m.%Y')::DATE",
  parse_timestamp: "strptime(x, '%Y-%m-%d %H:%M:%S')",
  to_number: 'x::DECIMAL(18,2)',
  try_to_number: 'TRY_CAST(x AS DECIMAL(18,2))',
  isnumeric: 'TRY_CAST(x AS DOUBLE) IS NOT NULL',
  convert: 'CAST(x AS INTEGER)',
  try_convert: 'TRY_CAST(x AS INTEGER)',
  safe_cast: 'TRY_CAST(x AS INTEGER)',
  isnull: 'coalesce(x, 0), or x IS NULL',
  nvl: 'coalesce(x, 0)',
  nvl2: 'CASE WHEN x IS NOT NULL THEN a ELSE b END',
  zeroifnull: 'coalesce(x, 0)',
  nullifzero: 'nullif(x, 0)',
  iif: 'if(condition, a, b)',
  iff: 'if(condition, a, b), or CASE WHEN condition THEN a ELSE b END',
  decode: 'CASE x WHEN 1 THEN a ELSE b END',
  safe_divide: 'a / b, which is NULL where b is 0',
  div0: 'coalesce(a / b, 0)',
  dateadd: 'x + INTERVAL 1 DAY',
  date_add: 'x + INTERVAL 1 DAY',
  timestampadd: 'x + INTERVAL 1 DAY',
  timestamp_add: 'x + INTERVAL 1 DAY',
  add_months: 'x + INTERVAL 1 MONTH',
  months_between: "date_diff('month', a, b)",
  timestamp_diff: "date_diff('day', a, b)",
  timestampdiff: "date_diff('day', a, b)",
  timestamp_trunc: "date_trunc('month', x)",
  datetime_trunc: "date_trunc('month', x)",
  truncate: 'trunc(x, 2)',
  trunc: "date_trunc('month', x) for a time; trunc(x) takes a number",
  eomonth: 'last_day(x)',
  convert_timezone: "x AT TIME ZONE 'Europe/Oslo'",
  charindex: "instr(text, 'part')",
  locate: "instr(text, 'part')",
  patindex: "regexp_matches(text, 'pattern')",
  datalength: 'length(x)',
  substring_index: "split_part(x, ',', 1)",
  replicate: 'repeat(x, 3)',
  stuff: "concat(left(x, 1), 'new', substr(x, 4))",
  initcap: 'upper(x[1]) || lower(x[2:])',
  regexp_like: "regexp_matches(x, 'pattern')",
  regexp_contains: "regexp_matches(x, 'pattern')",
  regexp_substr: "regexp_extract(x, 'pattern')",
  rlike: "regexp_matches(x, 'pattern')",
  parse_json: 'x::JSON',
  json_build_object: "json_object('name', x)",
  jsonb_build_object: "json_object('name', x)",
  json_build_array: 'json_array(x)',
  jsonb_build_array: 'json_array(x)',
  json_agg: 'json_group_array(x)',
  jsonb_agg: 'json_group_array(x)',
  to_jsonb: 'to_json(x)',
  json_query: "json_extract(x, '$.name')",
  get_json_object: "x ->> '$.name'",
  object_construct: "{'name': x}, or json_object('name', x)",
  sha2: 'sha256(x)',
  rand: 'random()',
  newid: 'uuid()',
  generate_uuid: 'uuid()',
  uuid_generate_v4: 'uuid()',
  uuid_string: 'uuid()',
  square: 'x * x, or pow(x, 2)',
  flatten: 'unnest(x)',
  to_timestamp: "strptime(x, '%Y-%m-%d %H:%M:%S') for text; to_timestamp takes seconds since 1970",
  generate_surrogate_key: "md5(concat_ws('-', a, b))",
}

/** Words without parentheses that other dialects take for a call or a column. */
const words: Readonly<Record<string, string>> = {
  sysdate: 'current_timestamp',
  systimestamp: 'current_timestamp',
  rownum: 'row_number() OVER (), or LIMIT at the end',
  rowcount: 'count(*)',
  level: 'WITH RECURSIVE instead of CONNECT BY',
}

const types: Readonly<Record<string, string>> = {
  number: 'DECIMAL(18,2)',
  bignumeric: 'DECIMAL(38,9)',
  money: 'DECIMAL(19,4)',
  smallmoney: 'DECIMAL(10,4)',
  varchar2: 'VARCHAR',
  nvarchar2: 'VARCHAR',
  clob: 'VARCHAR',
  ntext: 'VARCHAR',
  longtext: 'VARCHAR',
  mediumtext: 'VARCHAR',
  datetime2: 'TIMESTAMP',
  smalldatetime: 'TIMESTAMP',
  timestamp_ntz: 'TIMESTAMP',
  timestamp_ltz: 'TIMESTAMPTZ',
  timestamp_tz: 'TIMESTAMPTZ',
  datetimeoffset: 'TIMESTAMPTZ',
  float64: 'DOUBLE',
  number_float: 'DOUBLE',
  bytes: 'BLOB',
  varbinary2: 'BLOB',
  image: 'BLOB',
  object: 'JSON, or STRUCT(name VARCHAR)',
  array: 'VARCHAR[]',
  super: 'JSON',
  serial: 'INTEGER',
  bigserial: 'BIGINT',
  mediumint: 'INTEGER',
  uniqueidentifier: 'UUID',
}

/** They exist, and DuckDB says that they do not, when OVER is missing. */
const windowFunctions: ReadonlySet<string> = new Set([
  'row_number',
  'rank',
  'dense_rank',
  'rank_dense',
  'percent_rank',
  'cume_dist',
  'ntile',
  'lag',
  'lead',
  'first_value',
  'last_value',
  'nth_value',
])

const lookUp = (table: Readonly<Record<string, string>>, word: string): string | undefined =>
  Object.hasOwn(table, word.toLowerCase()) ? table[word.toLowerCase()] : undefined

export const otherFunction = (name: string) => lookUp(functions, name)
export const otherWord = (name: string) => lookUp(words, name)
export const otherType = (name: string) => lookUp(types, name)
export const isWindowFunction = (name: string) => windowFunctions.has(name.toLowerCase())

/** Types that people write; DuckDB lists many more. */
export const typeNames: readonly string[] =
  `BOOLEAN BOOL TINYINT SMALLINT INTEGER BIGINT HUGEINT UTINYINT USMALLINT UINTEGER UBIGINT FLOAT DOUBLE DECIMAL NUMERIC
  VARCHAR TEXT STRING CHAR BLOB BYTEA DATE TIME TIMESTAMP DATETIME TIMESTAMPTZ INTERVAL UUID JSON INT LONG REAL STRUCT MAP
  ENUM`.split(/\s+/)

export const isTypeName = (word: string) => typeNames.includes(word.toUpperCase())
