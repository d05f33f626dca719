import { test } from 'uvu'
import { pipelineCases } from '../support/lake/pipeline-cases.ts'

pipelineCases('build/append')

test.run()
