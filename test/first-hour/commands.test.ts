// Rows that are one command, but no run, in a new project.

import { test } from 'uvu'
import { hasPast, isCommand, isRun, testRows } from './all-rows.ts'

testRows((row) => isCommand(row) && !isRun(row) && !hasPast(row))

test.run()
