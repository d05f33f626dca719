// The shortcuts of the two services.

import { test } from 'uvu'
import { isOfRuns, testShortcuts } from './compare.ts'

testShortcuts((shortcut) => !isOfRuns(shortcut))

test.run()
