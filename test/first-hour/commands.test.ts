// Rows that are one command in a new project.

import { test } from 'uvu'
import { hasPast, isCommand, testRows } from './all-rows.ts'

testRows((row) => isCommand(row) && !hasPast(row))

test.run()
