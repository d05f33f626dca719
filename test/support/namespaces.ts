// Machines as network namespaces on one bridge, each with an address of its own, which can be parted from one another as by
// a cable that is pulled: packets get lost, and nobody is told. Needs the right to make them; tests are skipped without.

import { execFileSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'

export interface Namespace {
  readonly name: string
  readonly address: string
  /** A command that runs `command` there. */
  within(command: string, args: readonly string[]): readonly [string, readonly string[]]
}

interface Network extends AsyncDisposable {
  readonly machines: readonly Namespace[]
  /** What one of the two sends to the other is lost; the others, and this process, reach both. */
  part(one: Namespace, other: Namespace): void
  heal(): void
}

const ip = (...args: readonly string[]) =>
  execFileSync('ip', args, { stdio: ['ignore', 'pipe', 'pipe'], encoding: 'utf8' })

export function openNetwork(machines: number): Network {
  const id = randomBytes(3).toString('hex')
  // Of a private range that is for tests of networks, so that it is nobody's.
  const subnet = `198.18.${Math.floor(Math.random() * 256)}`
  const bridge = `ebr${id}`
  const names = Array.from({ length: machines }, (_, i) => `eider-${id}-${i + 1}`)
  const plugOf = (i: number) => `ev${id}${i + 1}`
  const close = () => {
    for (const name of names) quietly(() => ip('netns', 'del', name))
    quietly(() => ip('link', 'del', bridge))
  }
  try {
    ip('link', 'add', bridge, 'type', 'bridge')
    ip('addr', 'add', `${subnet}.254/24`, 'dev', bridge)
    ip('link', 'set', bridge, 'up')
    for (const [i, name] of names.entries()) {
      ip('netns', 'add', name)
      ip('link', 'add', plugOf(i), 'type', 'veth', 'peer', 'name', 'eth0', 'netns', name)
      ip('link', 'set', plugOf(i), 'master', bridge, 'up')
      ip('-n', name, 'addr', 'add', `${subnet}.${i + 1}/24`, 'dev', 'eth0')
      for (const device of ['lo', 'eth0']) ip('-n', name, 'link', 'set', device, 'up')
    }
  } catch (error) {
    close()
    throw error
  }
  // Two ports of a bridge that are isolated see all others and not each other.
  const isolate = (i: number, state: 'on' | 'off') =>
    ip('link', 'set', 'dev', plugOf(i), 'type', 'bridge_slave', 'isolated', state)
  const all = names.map((name, i) => ({
    name,
    address: `${subnet}.${i + 1}`,
    within: (command: string, args: readonly string[]) =>
      ['ip', ['netns', 'exec', name, command, ...args]] as const,
  }))
  return {
    machines: all,
    part(...both) {
      for (const machine of both) isolate(names.indexOf(machine.name), 'on')
    },
    heal: () => names.forEach((_, i) => isolate(i, 'off')),
    async [Symbol.asyncDispose]() {
      close()
    },
  }
}

function quietly(work: () => unknown): void {
  try {
    work()
  } catch {
    // It was not made.
  }
}

/** Whether this machine lets tests do it. */
export const hasNamespaces = ((): boolean => {
  try {
    void openNetwork(2)[Symbol.asyncDispose]()
    return true
  } catch {
    return false
  }
})()
