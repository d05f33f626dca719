// Functions of DuckDB, by when a model that calls them must be built again: volatile ones in every run, those that
// read files when the files change. test/compiler/sql/engine-functions.test.ts compares the first list with DuckDB's
// catalog; asking the catalog at every start would take longer than compiling a small project.

import type { Varies } from '../../core/model.ts'
import { sourceKinds } from '../../core/sources.ts'

/** Functions that the catalog lists as giving another value in another query. */
export const volatileFunctions: ReadonlySet<string> = new Set([
  'current_connection_id',
  'current_database',
  'current_date',
  'current_query',
  'current_query_id',
  'current_schema',
  'current_schemas',
  'current_transaction_id',
  'currval',
  'error',
  'gen_random_uuid',
  'get_current_time',
  'get_current_timestamp',
  'in_search_path',
  'nextval',
  'now',
  'random',
  'setseed',
  'sleep_ms',
  'stats',
  'today',
  'transaction_timestamp',
  'txid_current',
  'uuid',
  'uuidv4',
  'uuidv7',
  'write_log',
])

/** The same in truth, though the catalog does not say so: macros over the above, words that stand for a call, the engine. */
const volatileWords: ReadonlySet<string> = new Set([
  'ago',
  'current_catalog',
  'current_localtime',
  'current_localtimestamp',
  'current_setting',
  'current_time',
  'current_timestamp',
  'getenv',
  'localtime',
  'localtimestamp',
  'pg_conf_load_time',
  'pg_postmaster_start_time',
  'pg_sleep',
  'version',
])

/** Volatile functions that give the same all day, in UTC, as the engine counts. */
const dailyFunctions: ReadonlySet<string> = new Set(['current_date', 'today'])

/** Volatile functions whose type does not depend on anything outside of the query. */
const typedFunctions: ReadonlySet<string> = new Set([
  ...dailyFunctions,
  'age',
  'ago',
  'current_localtime',
  'current_localtimestamp',
  'current_time',
  'current_timestamp',
  'gen_random_uuid',
  'get_current_time',
  'get_current_timestamp',
  'localtime',
  'localtimestamp',
  'now',
  'random',
  'transaction_timestamp',
  'uuid',
  'uuidv4',
  'uuidv7',
])

/** Table functions whose first argument names files. */
export const fileFunctions: ReadonlySet<string> = new Set([
  'glob',
  'parquet_bloom_probe',
  'parquet_file_metadata',
  'parquet_full_metadata',
  'parquet_kv_metadata',
  'parquet_metadata',
  'parquet_scan',
  'parquet_schema',
  'read_blob',
  'read_csv',
  'read_csv_auto',
  'read_json',
  'read_json_auto',
  'read_json_objects',
  'read_json_objects_auto',
  'read_ndjson',
  'read_ndjson_auto',
  'read_ndjson_objects',
  'read_parquet',
  'read_text',
  'sniff_csv',
])

/** Among them those that also give the time of each file, which changes without its content. */
export const timedFileFunctions: ReadonlySet<string> = new Set(['read_blob', 'read_text'])

/** Functions of extensions that reach a database or a directory by themselves, past what the engine may reach. */
export const reachingFunctions: ReadonlySet<string> = new Set([
  ...Object.values(sourceKinds).flatMap(({ functions }) => functions),
  'delta_domain_metadata',
  'delta_get_transaction_version',
  'delta_list_files',
  'delta_scan',
  'delta_set_transaction_version',
  'write_blob',
])

export const unnestNames: ReadonlySet<string> = new Set(['unlist', 'unnest'])

/** What makes several rows of one in a SELECT list: the others are macros of the engine, made of it. */
export const unnestingFunctions: ReadonlySet<string> = new Set([
  ...unnestNames,
  'generate_subscripts',
  'regexp_split_to_table',
])

/** Table functions that depend on their arguments alone. All that are in no list are taken for volatile. */
export const pureTableFunctions: ReadonlySet<string> = new Set([
  'generate_series',
  'json_each',
  'json_tree',
  'range',
  'repeat',
  'repeat_row',
  'summary',
  'unnest',
])

/** Words that DuckDB takes for a call where no column has the name. Others, such as "version", are names alone. */
const callingWords: ReadonlySet<string> = new Set([
  'current_catalog',
  'current_date',
  'current_schema',
  'current_time',
  'current_timestamp',
  'localtime',
  'localtimestamp',
])

/** Whether a word without parentheses may give another value tomorrow. */
export const isVolatileWord = (name: string): boolean => callingWords.has(name)

/** When a volatile function gives another value; null: that may have another type, too. */
export function variesOf(name: string): Varies | null {
  if (dailyFunctions.has(name)) return 'daily'
  return typedFunctions.has(name) ? 'always' : null
}

/** Whether a call may give another value tomorrow. `age(x)` counts from today, `age(x, y)` does not. */
export function isVolatile(name: string, argumentCount: number): boolean {
  if (name === 'age') return argumentCount === 1
  return volatileFunctions.has(name) || volatileWords.has(name)
}
