// The shortcuts of the two services.

import { test } from 'uvu'
import { testShortcuts } from './compare.ts'

testShortcuts('services')

test.run()
