import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { packageDir } from '../files/package.ts'
import { BaseCommand } from '../cli/base-command.ts'
import { tableLines } from '../cli/table.ts'

/** The part of a CycloneDX component that is shown; rolldown.config.js writes them. */
interface Component {
  readonly group?: string
  readonly name: string
  readonly version: string
  readonly licenses: readonly { readonly expression?: string; readonly license?: { id: string } }[]
}

export default class Version extends BaseCommand {
  static override summary =
    'Print the version; with --verbose those of Node, DuckDB and all packages'
  static override examples = ['<%= config.bin %> version', '<%= config.bin %> --version --verbose']

  async run(): Promise<void> {
    const { flags } = await this.parse(Version)
    const { bindings } = await import('../duckdb/bindings.ts')
    const duckdb = bindings.library_version().replace(/^v/, '')
    const { version, arch } = this.config
    const platform = `${process.platform}-${arch}`
    const node = process.versions.node
    const packages = flags.verbose ? await bundledPackages() : []
    if (flags.json) {
      const more = flags.verbose ? { packages } : {}
      return this.printEvent({ event: 'version', version, platform, node, duckdb, ...more })
    }
    this.print(`eider/${version} ${platform} node-v${node} duckdb-v${duckdb}`)
    if (!flags.verbose) return
    this.print(`\npackages in ${join(packageDir, 'dist', 'bundle')}`)
    const rows = packages.map(({ name, ...part }) => [name, `${part.version}  ${part.license}`])
    for (const line of tableLines(rows)) this.print(`  ${line}`)
  }
}

async function bundledPackages() {
  const text = await readFile(join(packageDir, 'dist', 'bundle', 'sbom.cdx.json'), 'utf8')
  const { components } = JSON.parse(text) as { readonly components: readonly Component[] }
  return components.map(({ group, name, version, licenses }) => ({
    name: group === undefined ? name : `${group}/${name}`,
    version,
    license: licenses.map(({ license, expression }) => license?.id ?? expression).join(', '),
  }))
}
