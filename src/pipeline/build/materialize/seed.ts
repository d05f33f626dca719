// kind seed: the rows of a file of the project.

import { seedQuery } from '../../../compiler/seed.ts'
import type { SeedModel } from '../../../core/model.ts'
import { fromNothing } from './from-nothing.ts'
import type { Materialization } from './materialization.ts'
import { createTable } from './table.ts'

export const seed: Materialization<SeedModel> = fromNothing<SeedModel>(
  (model, dir, createdIn) => createTable(model, seedQuery(model, dir), createdIn),
  seedQuery,
)
