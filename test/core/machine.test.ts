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

const MIB = 2 ** 20

const memories: readonly (readonly [string, number, Readonly<Record<string, string>>])[] = [
  ['no control groups', os.totalmem(), {}],
  [
    'a limit of the second version',
    64 * MIB,
    { 'proc/self/cgroup': '0::/app\n', 'sys/fs/cgroup/app/memory.max': `${64 * MIB}\n` },
  ],
  [
    'a limit of a group above, which is less',
    48 * MIB,
    {
      'proc/self/cgroup': '0::/tenant.slice/team.slice/app.service\n',
      'sys/fs/cgroup/tenant.slice/memory.max': `${48 * MIB}\n`,
      'sys/fs/cgroup/tenant.slice/team.slice/memory.max': 'max\n',
      'sys/fs/cgroup/tenant.slice/team.slice/app.service/memory.max': `${96 * MIB}\n`,
    },
  ],
  [
    'a group above in which processes are slowed down from some size on',
    32 * MIB,
    {
      'proc/self/cgroup': '0::/tenant/app\n',
      'sys/fs/cgroup/tenant/memory.high': `${32 * MIB}\n`,
      'sys/fs/cgroup/tenant/memory.max': `${64 * MIB}\n`,
      'sys/fs/cgroup/tenant/app/memory.max': 'max\n',
    },
  ],
  [
    'a group above in the first version',
    40 * MIB,
    {
      'proc/self/cgroup': '4:memory:/tenant/job\n1:cpu:/\n0::/\n',
      'sys/fs/cgroup/memory/tenant/memory.limit_in_bytes': `${40 * MIB}\n`,
      'sys/fs/cgroup/memory/tenant/job/memory.limit_in_bytes': '9223372036854771712\n',
    },
  ],
  [
    'a container of the first version that sees its group as the root',
    40 * MIB,
    {
      'proc/self/cgroup': '4:memory:/docker/0123abcd\n',
      'sys/fs/cgroup/memory/memory.limit_in_bytes': `${40 * MIB}\n`,
    },
  ],
  [
    'no limit in the first version',
    os.totalmem(),
    {
      'proc/self/cgroup': '4:memory:/job\n',
      'sys/fs/cgroup/memory/job/memory.limit_in_bytes': '9223372036854771712\n',
    },
  ],
]

for (const [what, limit, cases] of [
  ['processors', processors, machines],
  ['memory', memoryBytes, memories],
] as const)
  for (const [name, expected, files] of cases)
    test(`${what}: ${name}`, async () => {
      await using dir = await temporaryDirectory()
      for (const [path, text] of Object.entries(files)) {
        await mkdir(dirname(join(dir.path, path)), { recursive: true })
        await writeFile(join(dir.path, path), text)
      }
      assert.is(limit(`${dir.path}/`), expected)
    })

test('memory and open files are those of this process', () => {
  assert.ok(memoryBytes() > 2 ** 26 && memoryBytes() <= os.totalmem())
  assert.ok(openFiles() >= 64)
})

test.run()
