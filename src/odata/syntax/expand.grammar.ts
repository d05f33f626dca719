// The rules of $expand, a part of the grammar in url.grammar.ts: its options hold all that the options of a query hold.

export const expandRules = String.raw`
  //+ "orders", "orders/$ref", "orders($filter=a eq 1;$top=2), customer", "*", "*/$ref", "*($levels=max)"
  //- "", "orders(", "orders()", "orders;customer", "orders($filter=)"
  expand = ws expandItem (comma expandItem)* ws

  //+ "orders", "orders/$count($filter=a eq 1)", "orders(select=a,b;expand=items($orderby=a desc;$search=b c))"
  //- "/orders", "orders/$value"
  expandItem = expandPath expandForm? expandOptions?

  //+ "*", "orders", "orders/items", "orders/a.b"
  //- "orders/", "a."
  expandPath = "*" | castPath

  //+ "a", "a/b.c", "b.c/a"
  //- "*", "a.", "a/"
  castPath = name (("/" | ".") name)*

  //+ "/$ref", "/$count"
  //- "/$value", "$ref"
  expandForm = "/$ref" | "/$count"

  //+ "($top=1)", "( $top=1 ; skip=2 )"
  //- "()", "($top=1;)"
  expandOptions = "(" ws expandOption (ws ";" ws expandOption)* ws ")"

  //+ "$filter=a eq 1", "FILTER=a eq 'x;y'", "$orderby=a,b desc", "$compute=a add 1 as b", "$levels=2", "$top=-1", "@a=b/c"
  //+ "$apply=groupby((a),aggregate(b with sum as c))"
  //- "$filter=a eq", "$top", "=1"
  expandOption = "$"? caseInsensitive<"filter"> ws "=" wholeExpression -- filter
               | "$"? caseInsensitive<"orderby"> ws "=" orderby -- orderby
               | "$"? caseInsensitive<"select"> ws "=" select -- select
               | "$"? caseInsensitive<"compute"> ws "=" compute -- compute
               | "$"? caseInsensitive<"search"> ws "=" search -- search
               | "$"? caseInsensitive<"expand"> ws "=" expand -- expand
               | "$"? caseInsensitive<"apply"> ws "=" apply -- apply
               | "@" name ws "=" wholeExpression -- alias
               | "$"? ~nestedOption name ws "=" plainValue -- plain

  // Those whose values have a grammar: for others a mistake in the value is not a mistake in the name.
  //+ "filter", "Expand"
  //- "filters", "top"
  nestedOption = (caseInsensitive<"filter"> | caseInsensitive<"orderby"> | caseInsensitive<"select">
               | caseInsensitive<"compute"> | caseInsensitive<"search"> | caseInsensitive<"expand">
               | caseInsensitive<"apply">) ~idPart

  //+ "1", " max ", ""
  //- "1;", "(1)"
  plainValue = (~(";" | "(" | ")") any)*
`
