// What runs have said of models whose rows are erased: a failed check shows rows, and so may the error of a cast. The results
// of runs stay, without these texts.

import type { ModelName } from '../../core/names.ts'
import { sql } from '../../core/sql.ts'
import type { Connection } from '../../duckdb/database.ts'
import { textOf } from '../../duckdb/values.ts'

const REMOVED = 'this text was removed by eider erase'

interface Said {
  readonly models?: readonly {
    readonly model: ModelName
    readonly status: string
    readonly because: string
    readonly warnings?: readonly string[]
  }[]
}

/** In the transaction of the caller. */
export async function forgetSaid(
  connection: Connection,
  names: ReadonlySet<ModelName>,
): Promise<void> {
  const runs = await connection.rows(sql`
    SELECT run_id, summary::VARCHAR AS summary FROM _eider.runs
    WHERE contains(summary::VARCHAR, '"failed"') OR contains(summary::VARCHAR, '"warnings"')`)
  for (const { run_id: id, summary } of runs) {
    const before = textOf(summary)
    const after = JSON.stringify(withoutTexts(JSON.parse(before) as Said, names))
    if (after !== before)
      await connection.run(sql`
        UPDATE _eider.runs SET summary = ${sql.value(after)} WHERE run_id = ${sql.value(textOf(id))}`)
  }
}

function withoutTexts(said: Said, names: ReadonlySet<ModelName>): Said {
  const models = said.models?.map((one) => {
    if (!names.has(one.model)) return one
    const because = one.status === 'failed' ? REMOVED : one.because
    const { warnings } = one
    return {
      ...one,
      because,
      ...(warnings === undefined ? {} : { warnings: warnings.map(() => REMOVED) }),
    }
  })
  return models === undefined ? said : { ...said, models }
}
