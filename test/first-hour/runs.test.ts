// Rows that are a run of a new project.

import { test } from 'uvu'
import { isRun, testRows } from './all-rows.ts'

testRows(isRun)

test.run()
