// What it wrote stays; the run finds nobody to talk to.

import { test } from 'uvu'
import { testCutLives } from './cut-lives.ts'

testCutLives('buffer', 'the daemon is killed', 700)

test.run()
