// To be imported before anything of src/: some of it takes a function of the system when it is loaded.

import { syncBuiltinESMExports } from 'node:module'
import { patchClock } from './patched-clock.ts'
import { patchEngine } from './patched-engine.ts'
import { patchFiles } from './patched-files.ts'
import { patchNetwork } from './patched-network.ts'

patchClock()
patchFiles()
patchNetwork()
patchEngine()
syncBuiltinESMExports()
