import { mkdir, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { memoryBytes, openFiles, processors } from '../../src/core/machine.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'

const all = os.availableParallelism()

const machines: readonly (readonly [string, number, Readonly<Record<string, string>>])[] = [
  ['no control groups', all, {}],
  [
    'a quota of the second version',
    1,
    { 'proc/self/cgroup': '0::/app.slice\n', 'sys/fs/cgroup/app.slice/cpu.max': '50000 100000\n' },
  ],
  [
    'a container that sees its group as the root',
    1,
    { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '100000 100000\n' },
  ],
  [
    'a quota of a group above, which is less',
    1,
    {
      'proc/self/cgroup': '0::/tenant.slice/team.slice/app.service\n',
      'sys/fs/cgroup/tenant.slice/cpu.max': '100000 100000\n',
      'sys/fs/cgroup/tenant.slice/team.slice/app.service/cpu.max': '900000 100000\n',
    },
  ],
  [
    'a quota of a group above in the first version',
    1,
    {
      'proc/self/cgroup': '2:cpu:/tenant/job\n',
      'sys/fs/cgroup/cpu/tenant/cpu.cfs_quota_us': '20000\n',
      'sys/fs/cgroup/cpu/tenant/cpu.cfs_period_us': '100000\n',
      'sys/fs/cgroup/cpu/tenant/job/cpu.cfs_quota_us': '-1\n',
      'sys/fs/cgroup/cpu/tenant/job/cpu.cfs_period_us': '100000\n',
    },
  ],
  [
    'more than there is',
    all,
    { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': '900000000 100000\n' },
  ],
  [
    'the second version without a quota',
    all,
    { 'proc/self/cgroup': '0::/\n', 'sys/fs/cgroup/cpu.max': 'max 100000\n' },
  ],
  [
    'a quota of the first version',
    1,
    {
      'proc/self/cgroup': '3:memory:/m\n2:cpu,cpuacct:/job\n0::/\n',
      'sys/fs/cgroup/cpu/job/cpu.cfs_quota_us': '20000\n',
      'sys/fs/cgroup/cpu/job/cpu.cfs_period_us': '100000\n',
    },
  ],
  [
    'the first version without a quota',
    all,
    {
      'proc/self/cgroup': '2:cpu:/job\n',
      'sys/fs/cgroup/cpu/job/cpu.cfs_quota_us': '-1\n',
      'sys/fs/cgroup/cpu/job/cpu.cfs_period_us': '100000\n',
    },
  ],
]

for (const [name, expected, files] of machines)
  test(`processors: ${name}`, async () => {
    await using dir = await temporaryDirectory()
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(dir.path, path)), { recursive: true })
      await writeFile(join(dir.path, path), text)
    }
    assert.is(processors(`${dir.path}/`), expected)
  })

test('memory and open files are those of this process', () => {
  assert.ok(memoryBytes() > 2 ** 26 && memoryBytes() <= os.totalmem())
  assert.ok(openFiles() >= 64)
})

test.run()
