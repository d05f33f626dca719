// Files that the catalog of a lake names, and whether the store has them.

import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { bucket } from './servers.ts'
import type { TestLake } from './with-lake.ts'

/** Those that are missing; each is a row lost for good. `all`: how many are named. */
export async function missingFiles(
  lake: TestLake,
  schema = 'shop',
): Promise<{ readonly all: number; readonly missing: readonly string[] }> {
  const of = (table: string) => `
    SELECT CASE WHEN f.path_is_relative THEN coalesce(s.path, '') || coalesce(t.path, '') || f.path ELSE f.path END
    FROM ${schema}.${table} f
    JOIN (SELECT DISTINCT table_id, schema_id, path FROM ${schema}.ducklake_table) t USING (table_id)
    JOIN (SELECT DISTINCT schema_id, path FROM ${schema}.ducklake_schema) s USING (schema_id)`
  const rows = await lake.postgres(
    `${of('ducklake_data_file')} UNION ${of('ducklake_delete_file')}`,
  )
  const prefix = lake.data.slice(`s3://${bucket}/`.length)
  const missing = rows
    .map(([path]) => path!)
    .filter(
      (path) =>
        !isThere(
          lake,
          path.startsWith('s3://') ? path.slice(`s3://${bucket}/`.length) : prefix + path,
        ),
    )
  return { all: rows.length, missing }
}

const isThere = (lake: TestLake, key: string): boolean => existsSync(fileOf(lake, key))

/** s3rver keeps an object as a file of its name with an ending. */
const fileOf = ({ servers }: TestLake, key: string): string =>
  join(servers.directory, 'store', bucket, `${key}._S3rver_object`)

/** Where the objects that a table has now are on this disk, oldest first. */
export async function objectsOf(lake: TestLake, name: string): Promise<readonly string[]> {
  const [schema, table] = name.split('.')
  const rows = await lake.postgres(`
    SELECT s.path || t.path || f.path FROM shop.ducklake_data_file f
    JOIN shop.ducklake_table t USING (table_id) JOIN shop.ducklake_schema s USING (schema_id)
    WHERE s.schema_name = '${schema}' AND t.table_name = '${table}'
      AND coalesce(f.end_snapshot, t.end_snapshot) IS NULL
    ORDER BY f.data_file_id`)
  const prefix = lake.data.slice(`s3://${bucket}/`.length)
  return rows.map(([path]) => fileOf(lake, prefix + path!))
}
