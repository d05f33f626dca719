// How an engine reads each kind of source. A kind that is missing here does not compile.

import type { SourceKind } from '../../core/sources.ts'
import { duckdb, sqlite } from './database-files.ts'
import { files } from './files.ts'
import { mysql } from './mysql.ts'
import { postgres } from './postgres.ts'
import { serverAccess } from './servers.ts'
import type { SourceAccess } from './source-access.ts'

export const sourceAccess: Readonly<Record<SourceKind, SourceAccess>> = {
  files,
  duckdb,
  sqlite,
  postgres: serverAccess(postgres),
  mysql: serverAccess(mysql),
}
