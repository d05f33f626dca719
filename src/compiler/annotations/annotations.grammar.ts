// The grammar of header annotations. A header line is a comment; the grammar is given what follows its dashes.
//
// `//+ "text"` above a rule is an input that the rule accepts as a whole, `//- "text"` one that it refuses.
// test/compiler/annotations/annotations.test.ts runs them all.
//
// Reading this text takes ohm as long as a small project takes to compile, so what it makes of it is kept in
// annotation-recipe.ts. `UPDATE_GOLDEN=1 node dist/test/run.js compiler/annotations` writes that file anew.

export const annotationGrammarSource = String.raw`
  Annotations {
    // The value is parsed by one of the rules below, which depends on the name.
    //+ "@kind: merge"
    //+ "@kind:merge"
    //+ "@kind merge"
    //+ "@expose"
    //+ "@description: any text, with \"quotes\": and colons"
    //- "kind: merge"
    //- "@: merge"
    //- "@unique_key(id)"
    annotation = "@" name separator value

    //+ "unique_key"
    //+ "kind2"
    //- "2kind"
    //- "unique key"
    name = letter (alnum | "_")*

    //+ ""
    //+ ":"
    //+ " : "
    //+ "  "
    //- "::"
    separator = blank* ":" blank*  -- colon
              | blank+             -- blank
              | end                -- none

    //+ ""
    //+ "order_id, \"Line No\""
    value = any*

    // Values.

    //+ "merge"
    //- "merge append"
    //- ""
    word = wordChar+

    //+ "order_id"
    //+ "order_id, line"
    //+ "\"Line No\" , größe"
    //- ""
    //- "order_id,"
    //- "order_id line"
    columns = column (comma column)*

    //+ ""
    //+ "order_id"
    //- ","
    optionalColumns = columns?

    //+ "  revenue of a day, in EUR "
    //- ""
    text = any+

    //+ "updated_at"
    //+ "updated_at lookback 1 hour"
    //+ "\"at\"  lookback 100"
    //- "updated_at 1 hour"
    //- "updated_at lookback 1 fortnight"
    //- ""
    incremental = column (blank+ "lookback" blank+ duration)?

    //+ "fail"
    //+ "latest(updated_at)"
    //+ "latest ( \"at\" )"
    //- "latest"
    //- "first(updated_at)"
    onDuplicate = "fail"       -- fail
                | latest

    //+ "latest(a)"
    //- "latest(a, b)"
    latest = "latest" open column close

    //+ "keep"
    //+ "mirror"
    //- "drop"
    deletes = "keep" | "mirror"

    //+ "evolve"
    //+ "rebuild"
    //+ "fail"
    //- "replace"
    onSchemaChange = "evolve" | "rebuild" | "fail"

    //+ "not_null(a, b)"
    //+ "unique(a)"
    //+ "accepted(status, 'open', 'it''s', -1.5, true)"
    //+ "references(customer_id, core.customers.id)"
    //+ "row_count(> 0)"
    //+ "amount >= 0 OR status = 'refund'"
    //- "unique(a) AND true"
    //- "not_null()"
    //- "accepted(status)"
    //- "references(customer_id, customers)"
    //- "row_count(some)"
    //- ""
    check = columnsCheck | accepted | references | rowCount | condition

    //+ "unique ( a , \"b c\" )"
    //- "unique a"
    columnsCheck = ("not_null" | "unique") open columns close

    //+ "accepted(a, 1)"
    //- "accepted('a', 1)"
    accepted = "accepted" open column comma literal (comma literal)* close

    //+ "references(a, s.t.\"b c\")"
    //- "references(a, t.b)"
    references = "references" open column comma modelName "." column close

    //+ "row_count(>= 10)"
    //- "row_count(10)"
    rowCount = "row_count" open comparison blank* digit+ close

    //+ "a > 0"
    //+ "not_nullable"
    //- "row_count (a) > 1"
    condition = ~(checkName open) any+

    //+ "raw.orders"
    //+ "raw.orders, \"my shop\".orders"
    //- "orders"
    //- ""
    models = modelName (comma modelName)*

    //+ "amount: of the order, in EUR"
    //+ "\"Line No\" : 1, 2, …"
    //- "amount"
    //- "amount:"
    columnText = column blank* ":" blank* any+

    // Parts.

    //+ "unique"
    //- "check"
    checkName = "not_null" | "unique" | "accepted" | "references" | "row_count"

    //+ "raw.orders"
    //+ "\"my shop\".orders"
    //- "orders"
    modelName = column "." column

    //+ ">="
    //+ "<>"
    //- "=="
    comparison = ">=" | "<=" | "<>" | ">" | "<" | "="

    //+ "'it''s'"
    //+ "-1.5"
    //+ "true"
    //- "a"
    //- "'open"
    literal = "'" textChar* "'"                  -- text
            | "-"? digit+ ("." digit+)?          -- number
            | ("true" | "false") ~bareChar       -- boolean

    //+ "''"
    //+ "ü"
    //- "'"
    textChar = "''" | ~"'" any

    //+ "a"
    //- "-"
    bareChar = alnum | "_" | "$"

    //+ "100"
    //+ "2 days"
    //- "two days"
    //- "2 h"
    duration = digit+ (blank+ unit "s"?)?

    //+ "hour"
    //- "hours"
    unit = "second" | "minute" | "hour" | "day" | "week" | "month" | "year"

    //+ "("
    //+ " ( "
    //- ")"
    open = blank* "(" blank*

    //+ ")"
    //+ " )"
    //- "("
    close = blank* ")"

    //+ "order_id"
    //+ "\"a \"\"b\"\", c\""
    //- "\"\""
    //- "\"open"
    //- "a b"
    column = quoted | bare

    //+ "\"a b\""
    //- "a"
    quoted = "\"" quotedChar+ "\""

    //+ "\"\""
    //+ "ü"
    //- "\""
    quotedChar = "\"\"" | ~"\"" any

    //+ "order_id"
    //+ "größe$2"
    //- "2nd"
    //- "a-b"
    bare = (letter | "_") bareChar*

    //+ ","
    //+ " ,  "
    //- ";"
    comma = blank* "," blank*

    //+ "m"
    //+ "-"
    //- " "
    wordChar = ~blank any

    //+ " "
    //+ "\t"
    //- "x"
    blank = " " | "\t"
  }
`
