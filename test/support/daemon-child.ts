// A daemon in a process of its own, for tests that kill it. Argument: the directory of the buffer.

import { openDaemonOn } from './collect-daemon.ts'
import { openBuffer } from './open-buffer.ts'

const dir = process.argv[2]!
const daemon = await openDaemonOn(await openBuffer(dir), dir)
process.send!({ url: daemon.url })
