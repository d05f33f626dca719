// Rows that are a request of the service or of the daemon.

import { test } from 'uvu'
import { isCommand, isCompile, testRows } from './all-rows.ts'

testRows((row) => !isCommand(row) && !isCompile(row))

test.run()
