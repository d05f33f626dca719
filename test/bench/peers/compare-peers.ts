// npm run bench -- --peers [--only NAME] [--quick] [--markdown FILE]

import { hasPart, writeParts } from '../markdown.ts'
import { capPeer } from './cap.ts'
import { datasettePeer } from './datasette.ts'
import { dbtPeer } from './dbt.ts'
import { flumePeer } from './flume.ts'
import { natsPeer } from './nats.ts'
import { type Compared, type PeerBenchmark, peerTable, shortPeerTable } from './peer.ts'
import { ondatraPeer } from './ondatra.ts'
import { postgresPeer } from './postgres.ts'
import { redisPeer } from './redis.ts'
import { roapiPeer } from './roapi.ts'
import { sqlmeshPeer } from './sqlmesh.ts'

const peers: readonly PeerBenchmark[] = [
  datasettePeer,
  capPeer,
  roapiPeer,
  redisPeer,
  postgresPeer,
  natsPeer,
  flumePeer,
  dbtPeer,
  sqlmeshPeer,
  ondatraPeer,
]

interface CompareOptions {
  readonly quick: boolean
  /** A part of names of peers. */
  readonly only: string
  /** Pages with the part `peers` or `peers in short`. */
  readonly markdown: readonly string[]
  readonly conditions: string
  readonly print: (line: string) => void
}

/** A peer that cannot be installed here, or whose results differ, is named, and the rest goes on. */
export async function comparePeers({
  quick,
  only,
  markdown,
  conditions,
  print,
}: CompareOptions): Promise<void> {
  const compared: Compared[] = []
  const left: string[] = []
  for (const peer of peers.filter(({ name }) => name.includes(only))) {
    const missing = peer.missing?.() ?? []
    if (missing.length > 0) {
      left.push(`${peer.title} was skipped: ${missing.join('; ')}.`)
      print(left.at(-1)!)
      continue
    }
    try {
      const startedAt = performance.now()
      const figures = await peer.run({ quick })
      const seconds = Math.round((performance.now() - startedAt) / 1_000)
      const named = withVersion(peer)
      compared.push({ peer: named, figures })
      print(`${peer.settings} ${peer.durability}\n\n${peerTable(named, figures)}\n\n${seconds} s\n`)
    } catch (error) {
      const [why] = (error instanceof Error ? error.message : String(error)).split('\n')
      left.push(`${peer.title} was not compared: ${why}`)
      print(`${peer.title}: not compared: ${error instanceof Error ? error.stack : String(error)}`)
      process.exitCode = 1
    }
  }
  const measured = `Measured ${conditions}${quick ? ', with small inputs and one round' : ''}.`
  const whole = compared.map(({ peer, figures }) =>
    [`### ${peer.title}`, `${peer.settings} ${peer.durability}`, peerTable(peer, figures)].join(
      '\n\n',
    ),
  )
  const parts = {
    peers: [measured, ...left, ...whole].join('\n\n'),
    'peers in short': [measured, shortPeerTable(compared)].join('\n\n'),
  }
  for (const page of markdown)
    for (const [name, text] of Object.entries(parts))
      if (await hasPart(page, name)) await writeParts(page, { [name]: text })
}

function withVersion(peer: PeerBenchmark): PeerBenchmark {
  return peer.version === undefined ? peer : { ...peer, title: `${peer.title} ${peer.version()}` }
}
