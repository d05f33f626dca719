// Annotations and checks. Most rows are one model that reads core.orders.

import { two } from '../line.ts'
import type { Mistake } from '../mistake.ts'

const select = 'SELECT order_id, country_id, status FROM core.orders'

export const rows: readonly Mistake[] = [
  {
    id: 'a01',
    mistake: 'a misspelt annotation that the kind needs',
    files: two(`-- @kind: merge\n-- @uniqe_key: order_id\n${select}`),
    answer: `
      models/mart/two.sql:2:4 error unknown-annotation: no annotation "@uniqe_key"
      hint: did you mean "@unique_key"?`,
    grade: 'A',
  },
  {
    id: 'a02',
    mistake: 'a kind of another tool',
    files: two(`-- @kind: incremental\n${select}`),
    answer: `
      models/mart/two.sql:1:11 error unknown-kind: no kind "incremental"
      hint: write @kind: append, @kind: merge or @kind: period for what other tools call "incremental"`,
    grade: 'A',
  },
  {
    id: 'a03',
    mistake: '@materialized of dbt',
    files: two(`-- @materialized: incremental\n-- @unique_key: order_id\n${select}`),
    answer: `
      models/mart/two.sql:1:4 error unknown-annotation: no annotation "@materialized"
      hint: write @kind: append, @kind: merge or @kind: period for what other tools call "incremental"`,
    grade: 'A',
  },
  {
    id: 'a03-view',
    mistake: '@materialized: view',
    files: two(`-- @materialized: view\n${select}`),
    answer: `
      models/mart/two.sql:1:4 error unknown-annotation: no annotation "@materialized"
      hint: write -- @kind: view`,
    grade: 'A',
  },
  {
    id: 'a04',
    mistake: 'a key that is not a column',
    files: two(`-- @kind: merge\n-- @unique_key: id\n${select}`),
    answer: `
      models/mart/two.sql:2:17 error unknown-key-column: "@unique_key" names "id", which is not a column of this model
      hint: the columns are order_id, country_id, status`,
    grade: 'A',
  },
  {
    id: 'a27',
    mistake: 'annotations in a block comment',
    files: two(`/* @kind: view */\n${select}`),
    answer: `
      models/mart/two.sql:1:4 warning ignored-annotation: annotations in a block comment are ignored: @kind
      hint: write each one on its own line: -- @kind: view`,
    grade: 'A',
  },
  {
    id: 'a28',
    mistake: 'a block comment of several lines',
    files: two(`/*\n * @kind: view\n * @expose order_id\n */\n${select}`),
    answer: `
      models/mart/two.sql:2:4 warning ignored-annotation: annotations in a block comment are ignored: @kind, @expose
      hint: write each one on its own line: -- @kind: view`,
    grade: 'A',
  },
  {
    id: 'a29',
    mistake: 'annotations below the SELECT',
    files: two(`${select}\n-- @kind: view\n-- @expose order_id\n`),
    answer: `
      models/mart/two.sql:2:4 warning ignored-annotation: annotations below the SQL are ignored: @kind, @expose
      hint: move them to the top of the file`,
    grade: 'A',
  },
  {
    id: 'a29-key',
    mistake: 'the key below the SELECT',
    files: two(`-- @kind: merge\n${select}\n-- @unique_key: order_id`),
    answer: `
      models/mart/two.sql:3:4 error ignored-annotation: annotations below the SQL are ignored: @unique_key
      hint: move it to the top of the file`,
    grade: 'A',
  },
  {
    id: 'a30',
    mistake: 'no blank after the dashes',
    files: two(`--@kind: view\n${select}`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'a30-three',
    mistake: 'three dashes',
    files: two(`--- @kind: view\n${select}`),
    answer: `
      models/mart/two.sql:1:5 warning ignored-annotation: "--- @kind: view" is a plain comment
      hint: did you mean "-- @kind: view"?`,
    grade: 'A',
  },
  {
    id: 'a31',
    mistake: 'an equals sign for the colon',
    files: two(`-- @kind = view\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error annotation-syntax: annotation not understood: expected a kind: view, table, append, merge, period, scd2, events
      hint: write -- @kind: view`,
    grade: 'A',
  },
  {
    id: 'a32',
    mistake: 'no @',
    files: two(`-- kind: view\n${select}`),
    answer: `
      models/mart/two.sql:1:1 warning ignored-annotation: "-- kind: view" is a plain comment
      hint: did you mean "-- @kind: view"?`,
    grade: 'A',
  },
  {
    id: 'a32-key',
    mistake: 'no @ before the key',
    files: two(`-- @kind: merge\n-- unique_key: order_id\n${select}`),
    answer: `
      models/mart/two.sql:2:1 error ignored-annotation: "-- unique_key: order_id" is a plain comment
      hint: did you mean "-- @unique_key: order_id"?`,
    grade: 'A',
  },
  {
    id: 'a32-sentence',
    mistake: 'comments that only begin like annotations',
    files: two(
      `-- kind of slow\n-- check: does this work?\n-- expose the rest later\n-- incremental load\n${select}`,
    ),
    answer: '',
    grade: 'A',
  },
  {
    id: 'a33',
    mistake: 'upper case',
    files: two(`-- @KIND: VIEW\n${select}`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'a34',
    mistake: '@kind twice',
    files: two(`-- @kind: view\n-- @kind: table\n${select}`),
    answer: `
      models/mart/two.sql:2:4 error duplicate-annotation: "@kind" is given twice, first in line 1
      hint: delete one of the two`,
    grade: 'A',
  },
  {
    id: 'a26',
    mistake: 'comments before the annotations',
    files: two(`-- sales\n\n-- @kind: view\n${select}`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'b47b',
    mistake: '@expose like a call',
    files: two(`-- @expose(country_id)\n${select}`),
    answer: `
      models/mart/two.sql:1:11 error annotation-syntax: annotation not understood: expected @name: value
      hint: write -- @expose: country_id`,
    grade: 'A',
  },
  {
    id: 'b47d',
    mistake: '@expose true',
    files: two(`-- @expose true\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error unknown-key-column: "@expose" names "true", which is not a column of this model
      hint: the columns are order_id, country_id, status`,
    grade: 'A',
  },
  {
    id: 'b48g',
    mistake: '@test of dbt',
    files: two(`-- @test: unique(order_id)\n${select}`),
    answer: `
      models/mart/two.sql:1:4 error unknown-annotation: no annotation "@test"
      hint: eider calls this @check`,
    grade: 'A',
  },
  {
    id: 'b48a',
    mistake: 'a misspelt check',
    files: two(`-- @check: not_nul(country_id)\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error invalid-check: there is no check or function "not_nul"
      hint: did you mean not_null(country_id)?`,
    grade: 'A',
  },
  {
    id: 'b48a-dbt',
    mistake: 'a test of dbt as a check',
    files: two(`-- @check: accepted_values(country_id, 'NO')\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error invalid-check: there is no check or function "accepted_values"
      hint: did you mean accepted(country_id, 'NO')?`,
    grade: 'A',
  },
  {
    id: 'b48b',
    mistake: 'a check that counts',
    files: two(`-- @check: count(*) > 0\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error invalid-check: a condition looks at one row at a time, so it cannot count
      hint: write row_count(> 0)`,
    grade: 'A',
  },
  {
    id: 'b48b-max',
    mistake: 'a check with an aggregate',
    files: two(`-- @check: max(order_id) < 10\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error invalid-check: a condition looks at one row at a time, so it cannot call an aggregate function
      hint: write a model that selects the aggregate, and check that`,
    grade: 'A',
  },
  {
    id: 'b48c',
    mistake: 'a check that refers to a misspelt model',
    files: two(`-- @check: references(country_id, ref.country.country_id)\n${select}`),
    answer: `
      models/mart/two.sql:1:35 error unknown-model: no model "ref.country"
      hint: did you mean "ref.countries"?`,
    grade: 'A',
  },
  {
    id: 'b48d',
    mistake: 'accepted values without quotes',
    files: two(`-- @check: accepted(country_id, NO, SE)\n${select}`),
    answer: `
      models/mart/two.sql:1:33 error annotation-syntax: annotation not understood: expected a condition in SQL, or not_null(a, b), unique(a, b), accepted(a, 'x', 'y'), references(a, schema.model.column), row_count(> 0)
      hint: text goes in single quotes: accepted(country_id, 'NO', …)`,
    grade: 'A',
  },
  {
    id: 'b48e',
    mistake: 'a text in double quotes in a check',
    files: two(`-- @check: country_id = "NO"\n${select}`),
    answer: `
      models/mart/two.sql:1:25 error sql-binding: no column "NO"
      hint: text goes in single quotes: 'NO'`,
    grade: 'A',
  },
  {
    id: 'b48f',
    mistake: 'row_count without its parentheses',
    files: two(`-- @check: row_count > 0\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error invalid-check: "row_count" takes its condition in parentheses
      hint: write row_count(> 0)`,
    grade: 'A',
  },
  {
    id: 'b50a',
    mistake: 'append without @incremental',
    files: two(`-- @kind: append\n${select}`),
    answer: `
      models/mart/two.sql:1:11 error missing-incremental: a model of kind append needs @incremental
      hint: add a line such as -- @incremental: updated_at`,
    grade: 'A',
  },
  {
    id: 'b50c',
    mistake: 'a lookback of an unknown unit',
    files: two(`-- @kind: append\n-- @incremental: order_id lookback 1 fortnight\n${select}`),
    answer: `
      models/mart/two.sql:2:38 error annotation-syntax: annotation not understood: expected a column, optionally followed by "lookback 1 hour" (second to year, or a plain number)`,
    grade: 'A',
  },
  {
    id: 'b50e',
    mistake: '@incremental on a table',
    files: two(`-- @incremental: order_id\n${select}`),
    answer: `
      models/mart/two.sql:1:4 error annotation-not-for-kind: "@incremental" has no effect on a model of kind table
      hint: it is for append, merge`,
    grade: 'A',
  },
  {
    id: 'd15e',
    mistake: '@description that goes on in the next line',
    files: two(`-- @description: Orders by country,\n--   without cancelled ones\n${select}`),
    answer: `
      models/mart/two.sql:2:1 warning ignored-annotation: @description ends on the line above; this line is a plain comment
      hint: put the whole text on one line, or leave a blank line between the two`,
    grade: 'A',
  },
  {
    id: 'd15f',
    mistake: 'two annotations on one line',
    files: two(`-- @description: Orders @kind: view\n${select}`),
    answer: `
      models/mart/two.sql:1:25 warning ignored-annotation: this is part of the text of @description
      hint: write it on its own line: -- @kind: view`,
    grade: 'A',
  },
  {
    id: 'k01',
    mistake: 'an scd2 model exposed by its unique key',
    files: two(`-- @kind: scd2\n-- @unique_key: order_id\n-- @expose order_id\n${select}`),
    answer: `
      models/mart/two.sql:3:4 error expose-not-unique: an scd2 model keeps several versions of each order_id, so that key is not unique
      hint: write -- @expose order_id, valid_from`,
    grade: 'A',
  },
  {
    id: 'b47a',
    mistake: 'a colon after @expose',
    files: two(`-- @expose: order_id\n${select}`),
    answer: '',
    grade: 'A',
  },
  {
    id: 'b47c',
    mistake: '@expose key=',
    files: two(`-- @expose key=order_id\n${select}`),
    answer: `models/mart/two.sql:1:15 error annotation-syntax: annotation not understood: expected nothing, or the columns of the key, separated by commas`,
    grade: 'A',
  },
  {
    id: 'b50b',
    mistake: '@incremental of a misspelt column',
    files: two(`-- @kind: append\n-- @incremental: order_d\n${select}`),
    answer: `
      models/mart/two.sql:2:18 error unknown-key-column: "@incremental" names "order_d", which is not a column of this model
      hint: did you mean "order_id"?`,
    grade: 'A',
  },
  {
    id: 'b50d',
    mistake: 'a lookback of days on a number',
    files: two(`-- @kind: append\n-- @incremental: order_id lookback 1 day\n${select}`),
    answer: `models/mart/two.sql:2:18 error invalid-lookback: a lookback on "order_id", which is INTEGER, must be a number`,
    grade: 'A',
  },
  {
    id: 'd15a',
    mistake: '@depends_on an unknown model',
    files: two(`-- @depends_on: core.ordrs\n${select}`),
    answer: `
      models/mart/two.sql:1:17 error unknown-model: no model "core.ordrs"
      hint: did you mean "core.orders"?`,
    grade: 'A',
  },
  {
    id: 'd15b',
    mistake: '@tags with a blank',
    files: two(`-- @tags: a b, c\n${select}`),
    answer: `models/mart/two.sql:1:13 error annotation-syntax: annotation not understood: expected one or more tags, separated by commas`,
    grade: 'A',
  },
  {
    id: 'd15c',
    mistake: '@column of a column that is not there',
    files: two(`-- @column ordr_id: the order\n${select}`),
    answer: `
      models/mart/two.sql:1:12 error unknown-key-column: "@column" names "ordr_id", which is not a column of this model
      hint: did you mean "order_id"?`,
    grade: 'A',
  },
  {
    id: 'd15d',
    mistake: '@description without a text',
    files: two(`-- @description:\n${select}`),
    answer: `models/mart/two.sql:1:4 error annotation-syntax: annotation not understood: expected a text`,
    grade: 'A',
  },
]
