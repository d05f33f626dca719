// The daemon takes more events, and another run begins.

import { test } from 'uvu'
import { testCutLives } from './cut-lives.ts'

testCutLives('run', 'the run is killed and the daemon lives on', 400)

test.run()
