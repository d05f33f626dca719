import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { mkdir, open, readFile, writeFile } from 'node:fs/promises'
import { constants as system, tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { isDiskFull, listenProblem, systemProblem } from '../../src/files/system-errors.ts'

const dir = mkdtempSync(join(tmpdir(), 'eider-errors-'))
test.after(() => rmSync(dir, { recursive: true }))

const errorOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => assert.unreachable('nothing was refused'),
    (error: unknown) => error,
  )

/** As the system makes them; root is refused nothing. */
const refused = (code: string, path: string, syscall = 'open') =>
  Object.assign(new Error(`${code}: refused, ${syscall} '${path}'`), { code, path, syscall })

test('a file where a directory belongs is named, not the path below it', async () => {
  const file = join(dir, 'state')
  writeFileSync(file, '')
  for (const work of [
    mkdir(join(file, 'buffer'), { recursive: true }),
    writeFile(join(file, 'a'), ''),
  ])
    assert.equal(systemProblem(await errorOf(work)), {
      problem: `${file} is a file and must be a directory`,
      hint: 'move it away',
    })
  assert.is(
    systemProblem(await errorOf(mkdir(file)))?.problem,
    `${file} is a file and must be a directory`,
  )
})

test('a directory where a file belongs, of which the system does not say the path', async () => {
  const error = await errorOf(readFile(dir))
  assert.is(systemProblem(error), null)
  assert.is(systemProblem(error, dir)?.problem, `${dir} is a directory and must be a file`)
})

test('who owns what is refused, and the command that helps', () => {
  const own = join(dir, 'own')
  mkdirSync(own)
  chmodSync(own, 0o500)
  const found = systemProblem(refused('EACCES', join(own, 'run.lock.2644c420'), 'open'))!
  assert.match(found.problem, new RegExp(`^${own} cannot be written by user \\S+$`))
  assert.is(found.hint, `chmod u+rwX ${own}; "eider doctor" lists such files`)
})

test('a used-up quota, also where Node has no name for it', () => {
  const at = join(dir, 'warehouse.duckdb')
  const unnamed = Object.assign(new Error('Unknown system error -122'), {
    code: 'UNKNOWN',
    errno: -system.errno.EDQUOT,
    path: at,
  })
  for (const error of [unnamed, refused('EDQUOT', at)]) {
    assert.is(isDiskFull(error), true)
    assert.match(systemProblem(error)!.problem, /^the disk quota of \S+ is exceeded at /)
  }
  const engine =
    'TransactionContext Error: Failed to commit: Could not write file "x": Disk quota exceeded'
  assert.is(isDiskFull(new Error(engine)), true)
  assert.is(isDiskFull(refused('EIO', at)), false)
})

test('disks', () => {
  const at = join(dir, 'warehouse.duckdb')
  const problems = ['ENOSPC', 'EROFS', 'EIO', 'EDQUOT', 'EMFILE', 'ELOOP', 'EPERM'].map((code) =>
    systemProblem(refused(code, at)),
  )
  for (const found of problems) {
    assert.ok(found !== null && found.hint.length > 0)
    assert.not.match(found.problem, /\bE[A-Z]{3,}\b/)
  }
  assert.is(problems[0]?.problem, `the disk of ${at} is full`)
})

test('what no system causes is a bug', async () => {
  assert.is(systemProblem(new Error('boom')), null)
  assert.is(systemProblem(null), null)
  assert.is(systemProblem(refused('EBADF', '/x')), null)
  const missing = systemProblem(await errorOf(open(join(dir, 'none'))))
  assert.is(missing?.problem, `${join(dir, 'none')} does not exist`)
})

test('listening', () => {
  const of = (code: string) => listenProblem(refused(code, ''), '10.9.9.9', 80).problem
  assert.is(of('EADDRNOTAVAIL'), '10.9.9.9 is not an address of this machine')
  assert.match(of('EACCES'), /may not listen on port 80$/)
})

test.run()
