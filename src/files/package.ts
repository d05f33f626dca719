// The package that the program was installed as.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { hashOf } from '../core/hash.ts'

/** The directory of the code that runs: the bundle, or what tsc made. */
export const codeDir = dirname(fileURLToPath(import.meta.url))

/** The directory of package.json. */
export const packageDir = findPackageDir(codeDir)

let stamp: string | null = null

/** Identifies a build of the program: a checkout is rebuilt many times under one version. */
export const buildStamp = (): string => (stamp ??= stampOfBundle() ?? stampOfCode())

/** null: this is what tsc made. */
function stampOfBundle(): string | null {
  try {
    return readFileSync(join(codeDir, 'build-stamp'), 'utf8')
  } catch {
    return null
  }
}

function stampOfCode(): string {
  const stamps = readdirSync(codeDir)
    .toSorted()
    .map((file) => {
      const { size, mtimeMs } = statSync(join(codeDir, file))
      return [file, size, mtimeMs]
    })
  return hashOf(32, stamps)
}

function findPackageDir(dir: string): string {
  return existsSync(join(dir, 'package.json')) ? dir : findPackageDir(dirname(dir))
}
