// Rows that are a command in a project that has a past.

import { test } from 'uvu'
import { hasPast, testRows } from './all-rows.ts'

testRows(hasPast)

test.run()
