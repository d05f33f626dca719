// Projects as earlier versions left them: all files of a directory, in one file of gzipped JSON, by their paths.

import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { repository } from '../support/workspace.ts'

/** Path to content in Base64. */
type Files = Readonly<Record<string, string>>

const pathOf = (name: string) => join(repository, 'test', 'old-projects', `${name}.json.gz`)

export async function packProject(dir: string, name: string): Promise<void> {
  const entries = await readdir(dir, { recursive: true, withFileTypes: true })
  const files: Record<string, string> = {}
  for (const entry of entries.filter((one) => one.isFile())) {
    const path = join(entry.parentPath, entry.name)
    files[path.slice(dir.length + 1)] = await readFile(path, 'base64')
  }
  await writeFile(pathOf(name), gzipSync(JSON.stringify(files), { level: 9 }))
}

export async function unpackProject(name: string, dir: string): Promise<void> {
  const files = JSON.parse(gunzipSync(await readFile(pathOf(name))).toString()) as Files
  for (const [path, content] of Object.entries(files)) {
    await mkdir(dirname(join(dir, path)), { recursive: true })
    await writeFile(join(dir, path), content, 'base64')
  }
}
