// How an engine is opened.

import type { Extensions } from '../core/extensions.ts'
import { limits } from '../core/limits.ts'
import { engineMemory } from '../core/machine.ts'

export interface OpenOptions {
  /** Absolute path, or ':memory:'. */
  readonly path: string
  readonly readOnly?: boolean
  /** Where relative file names of models are looked for. */
  readonly searchDir?: string
  readonly threads?: number | null
  readonly memoryLimit?: string | null
  readonly tempDir?: string | null
  readonly maxTempSize?: string | null
  /** Where the engine looks for stored secrets; that of DuckDB in the home directory when absent. */
  readonly secretDirectory?: string
  /** Lets `duckdb_secrets()` give what is in a secret. */
  readonly showsSecrets?: boolean
  /**
   * It works on servers in transactions. Closing a connection in one that cannot be rolled back, as its server is gone, ends
   * the process by SIGABRT, since the engine throws in a destructor. So it is rolled back before; and an engine that an
   * error has broken, which refuses even that, is left to the end of the process.
   */
  readonly hasServers?: boolean
  /** Where extensions are, and those that are loaded now; the engine never fetches one. Throws ExtensionError. */
  readonly extensions?: Extensions | undefined
}

/** Settings of DuckDB. `isChecked`: the signatures of its extensions are known to be valid. */
export function engineConfig(
  options: OpenOptions,
  isChecked: boolean,
): Readonly<Record<string, string>> {
  const config: Record<string, string> = {
    access_mode: options.readOnly ? 'READ_ONLY' : 'AUTOMATIC',
    autoinstall_known_extensions: 'false',
    autoload_known_extensions: 'false',
    errors_as_json: 'true',
    // By default five: a bulk insert then holds 60 MB and more for each thread, and is not faster for it.
    write_buffer_row_group_count: '1',
    default_block_size: String(limits.databaseBlockBytes),
  }
  if (options.searchDir !== undefined) config['file_search_path'] = options.searchDir
  if (options.threads != null) config['threads'] = String(options.threads)
  const memoryLimit = options.memoryLimit ?? engineMemory()
  if (memoryLimit !== null) config['memory_limit'] = memoryLimit
  if (options.tempDir != null) config['temp_directory'] = options.tempDir
  if (options.maxTempSize != null) config['max_temp_directory_size'] = options.maxTempSize
  if (options.showsSecrets === true) config['allow_unredacted_secrets'] = 'true'
  if (options.secretDirectory !== undefined) config['secret_directory'] = options.secretDirectory
  if (options.extensions !== undefined) config['extension_directory'] = options.extensions.directory
  if (isChecked) config['allow_unsigned_extensions'] = 'true'
  return config
}
