// The rules of $expand, $search and $apply, a part of the grammar in url.grammar.ts.
/**
 * Stands for a semicolon that was written %3B: that one is a part of a word, a plain one is not (ABNF, searchWord). No
 * decoded text has half a surrogate pair.
 */
export const ENCODED_SEMICOLON = '\ud83b'

export const optionRules = String.raw`  //+ "orders", "orders/$ref", "orders($filter=a eq 1;$top=2), customer", "*", "*/$ref", "*($levels=max)"
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
  expandOption = namedOption
               | "@" name ws "=" wholeExpression -- alias
               | "$"? ~nestedOption name ws "=" plainValue -- plain

  //+ "$filter=a eq 1", "select =a,b"
  //- "$top=1", "@a=1"
  namedOption = "$"? caseInsensitive<"filter"> ws "=" wholeExpression
              | "$"? caseInsensitive<"orderby"> ws "=" orderby
              | "$"? caseInsensitive<"select"> ws "=" select
              | "$"? caseInsensitive<"compute"> ws "=" compute
              | "$"? caseInsensitive<"search"> ws "=" search
              | "$"? caseInsensitive<"expand"> ws "=" expand
              | "$"? caseInsensitive<"apply"> ws "=" apply

  // Those whose values have a grammar: for others a mistake in the value is not a mistake in the name.
  //+ "filter", "Expand"
  //- "filters", "top"
  nestedOption = (caseInsensitive<"filter"> | caseInsensitive<"orderby"> | caseInsensitive<"select">
               | caseInsensitive<"compute"> | caseInsensitive<"search"> | caseInsensitive<"expand">
               | caseInsensitive<"apply">) ~idPart

  //+ "1", " max ", ""
  //- "1;", "(1)"
  plainValue = (~(";" | "(" | ")") any)*

  // $search: words and phrases. Two terms side by side are joined by AND. The words AND, OR and NOT are operators only
  // where an operator can stand.

  //+ "blue", "blue green", "\"blue green\" OR red", "NOT (a b)", "a AND NOT b", "not", "OR", "O'Neil", "100%"
  //- "", "(a", "a)", "\"a", "()", "a;b", "\"\""
  search = ws searchAny ws

  //+ "a OR b", "'a b'"
  //- " a", ""
  searchAny = searchDraft ~searchCharacter -- draft
            | searchOr -- or

  // What somebody is still typing: words, with quotes and operators that mean nothing yet.
  //+ "'blue gr'", "'\"blue'", "'it''s'"
  //- "'blue' green", "blue"
  searchDraft = "'" ("''" | ~"'" any)* "'"

  //+ "a", "a OR b", "a b OR c", "a OR OR b"
  //- "a OR b)"
  searchOr = searchAnd (rws "OR" rws searchAnd)*

  //+ "a", "a b", "a AND b", "a NOT b", "a AND"
  //- "a OR b"
  searchAnd = searchTerm searchNext*

  //+ " b", " AND b", " AND", " OR"
  //- "b", " OR b"
  searchNext = rws "AND" rws searchTerm -- and
             | rws ~("OR" rws searchTerm) searchTerm -- space

  //+ "a", "NOT a", "NOT(a)", "NOT NOT a", "NOT", "(a OR b)", "\"a b\""
  //- "NOT (", "\"\""
  searchTerm = searchNot* searchPrimary

  //+ "NOT ", "NOT\t"
  //- "NOT", "not "
  searchNot = "NOT" (rws | &"(")

  //+ "a", "NOT", "(a OR b)", "\"a b\""
  //- "NOT a", "\"\""
  searchPrimary = "(" ws searchOr ws ")" -- group
                | "\"" ("a".."z" | "A".."Z" | " " | phraseCharacter)+ "\"" -- phrase
                | ("a".."z" | "A".."Z" | "0".."9" | searchCharacter)+ -- word

  //+ "a", " ", "\\", "'"
  //- "\""
  phraseCharacter = ~"\"" any

  //+ "a", "'", "*", "ü"
  //- " ", "(", "\"", ";"
  searchCharacter = ~(" " | "\t" | "(" | ")" | "\"" | ";") any

// $apply: transformations, each of the rows that the one before has made.

  //+ "identity", "filter(a eq 1)/aggregate(a with sum as b)", " groupby((a,b/c)) ", "a.b(c)"
  //- "", "filter(a eq 1)/", "/identity", "filter(a eq 1) / identity"
  apply = ws transformations ws

  //+ "identity", "top(1)/skip(2)"
  //- "", "top(1)//skip(2)"
  transformations = transformation ("/" transformation)*

  //+ "aggregate($count as n,a with max as b)", "groupby((a))", "groupby((a),top(1)/skip(1))", "concat(identity,top(1))"
  //+ "filter( a eq 1 )", "search(a OR \"b\")", "compute(a add 1 as b,c as d)", "orderby(a desc,b)", "Top(1)"
  //+ "topcount(2,a)", "bottompercent(50 , a mul 2)", "IDENTITY", "join(a as b,top(1))", "expand(a/b as c, d('x)'))"
  //- "aggregate()", "groupby(a)", "groupby((a),)", "concat(identity)", "top(a)", "top(-1)", "topcount(2)", "identity()", "nothing"
  transformation = applyAggregate | applyGroupBy | applyConcat | applyFilter | applySearch | applyCompute
                 | applyOrderBy | applyWindow | applyRanked | applyIdentity | applyJoin | applyNodes
                 | applyTraverse | applyNest | applyAddNested | applyOther

  //+ "aggregate(a with sum as b)", "AGGREGATE( $count as n )"
  //- "aggregate()", "aggregate(a with sum as b"
  applyAggregate = caseInsensitive<"aggregate"> open aggregateItem (comma aggregateItem)* close

  //+ "groupby((a))", "groupby( ( a , b ) , identity )"
  //- "groupby()", "groupby(())", "groupby((a),)"
  applyGroupBy = caseInsensitive<"groupby"> open open groupItem (comma groupItem)* close (comma transformations)? close

  //+ "concat(identity,top(1)/identity,skip(1))"
  //- "concat(identity)"
  applyConcat = caseInsensitive<"concat"> open transformations (comma transformations)+ close

  //+ "filter(a)", "Filter( not a )"
  //- "filter()"
  applyFilter = caseInsensitive<"filter"> open expression close

  //+ "search(a b)", "search(\")\" OR NOT c)", "search(')/top(1')"
  //- "search()"
  applySearch = caseInsensitive<"search"> open searchAny close

  //+ "compute(a add 1 as b)"
  //- "compute(a)"
  applyCompute = caseInsensitive<"compute"> open computeItem (comma computeItem)* close

  //+ "orderby(a desc)"
  //- "orderby()"
  applyOrderBy = caseInsensitive<"orderby"> open orderItem (comma orderItem)* close

  //+ "top(10)", "Skip( 0 )"
  //- "top()", "top(1.5)"
  applyWindow = (caseInsensitive<"top"> | caseInsensitive<"skip">) open digit+ close

  //+ "topcount(1,a)", "bottomSum(1.5 , a add 1)"
  //- "topcount(1)", "middlesum(1,a)"
  applyRanked = (caseInsensitive<"top"> | caseInsensitive<"bottom">)
                (caseInsensitive<"count"> | caseInsensitive<"sum"> | caseInsensitive<"percent">)
                open expression comma expression close

  //+ "identity"
  //- "identity2", "identity()"
  applyIdentity = caseInsensitive<"identity"> ~(idPart | "(" | ".")

  //+ "join(a as b)", "OuterJoin( a/x.y AS b , top(1)/skip(1) )"
  //- "join(a)", "join(a as b,)", "join(as b)"
  applyJoin = (caseInsensitive<"join"> | caseInsensitive<"outerjoin">) open path rws caseInsensitive<"as"> rws name
              (comma transformations)? close

  //+ "nest(groupby((a)) as b)", "Nest( top(1)/skip(1) as b , identity AS c )"
  //- "nest(top(1))", "nest()"
  applyNest = caseInsensitive<"nest"> open nestItem (comma nestItem)* close

  //+ "addnested(a,filter(b) as c)", "AddNested( a/x.y , top(1) as c , identity as d )"
  //- "addnested(a)", "addnested(top(1) as b)"
  applyAddNested = caseInsensitive<"addnested"> open path (comma nestItem)+ close

  //+ "identity as a", "top(1)/skip(1) AS b"
  //- "identity", "a as b"
  nestItem = transformations rws caseInsensitive<"as"> rws name

  //+ "ancestors($root/a,b,c/d,filter(e))", "Descendants( $root/a , b , c , top(1)/skip(1) , filter(d) , 2 , KEEP start )"
  //- "ancestors($root/a,b,c)", "descendants($root/a,b,c,2)", "ancestors($root/a,b,c,filter(d),keep)"
  applyNodes = (caseInsensitive<"ancestors"> | caseInsensitive<"descendants">) open hierarchy comma transformations
               (comma transformations)? (comma digit+)? keepStart? close

  //+ ",keep start", " , Keep  Start"
  //- ",keep", "keep start"
  keepStart = comma caseInsensitive<"keep"> rws caseInsensitive<"start">

  //+ "traverse($root/a,b,c,preorder)", "Traverse( $root/a , b , c , PostOrder , filter(d)/top(1) , e desc , length(f) )"
  //- "traverse($root/a,b,c)", "traverse($root/a,b,c,inorder)", "traverse($root/a,b,c,preorder,)"
  applyTraverse = caseInsensitive<"traverse"> open hierarchy comma
                  (caseInsensitive<"preorder"> | caseInsensitive<"postorder">) traverseWithin? (comma orderItem)* close

  // No function of OData has the name of a transformation, so what begins with one is no value to sort by.
  //+ ",filter(a)", " , top(1)/skip(1)"
  //- ",length(a)", ",a"
  traverseWithin = comma &(applyName ws "(") transformations

  //+ "$root/a,b,c", "$root/a , b , c/d"
  //- "$root/a,b", "$root/a,1,c"
  hierarchy = path comma name comma path

  // Anything else that looks like a transformation gets its own message.
  //+ "nested(a(b))", "x.y()", "expand($root/a,b,'it''s (')", "sum(a)"
  //- "nest", "nested(", "aggregate(a)", "topsum(a)"
  applyOther = ~(applyName "(") name ("." name)* "(" applyArgument* ")"

  //+ "top", "groupBy", "topsum"
  //- "expand"
  applyName = caseInsensitive<"aggregate"> | caseInsensitive<"groupby"> | caseInsensitive<"concat">
            | caseInsensitive<"filter"> | caseInsensitive<"search"> | caseInsensitive<"compute">
            | caseInsensitive<"orderby"> | caseInsensitive<"identity"> | caseInsensitive<"join"> | caseInsensitive<"outerjoin">
            | caseInsensitive<"nest"> | caseInsensitive<"addnested">
            | caseInsensitive<"ancestors"> | caseInsensitive<"descendants"> | caseInsensitive<"traverse">
            | applyRankedName | caseInsensitive<"top"> | caseInsensitive<"skip">

  //+ "topcount", "BottomPercent"
  //- "top"
  applyRankedName = (caseInsensitive<"top"> | caseInsensitive<"bottom">)
                    (caseInsensitive<"count"> | caseInsensitive<"sum"> | caseInsensitive<"percent">)

  //+ "a", "(a(b)c)", "')'"
  //- ")", "(", "'"
  applyArgument = "(" applyArgument* ")" -- group
                | (string | ~("(" | ")" | "'") any) -- text

  //+ "$count as n", "a with sum as b", "a mul b/c WITH x.median as b", "a/$count as n", "a with sum from b with max as c"
  //+ "$count from a with max as n"
  //+ "a", "a as n"
  //- "with sum as b", "a with sum", "$count", "a with sum from b as c", "a/b", "a add 1"
  aggregateItem = "$count" aggregateFrom* aggregateName -- count
                | expression aggregateMethod? aggregateFrom* aggregateName -- value
                | name -- measure

  //+ " as n"
  //- "as n", " as 1"
  aggregateName = rws caseInsensitive<"as"> rws name

  //+ " with sum", " WITH a.b"
  //- "with sum", " with 1"
  aggregateMethod = rws caseInsensitive<"with"> rws name ("." name)*

  //+ " from a,b/c with max"
  //- " from", " from a"
  aggregateFrom = rws caseInsensitive<"from"> rws path (comma path)* aggregateMethod

  //+ "a", "a/b", "rolluprecursive($root/a,b,c)", "RollupRecursive( $root/a , b , c/d , filter(e)/top(1) )"
  //+ "rollup(a,b/c)", "Rollup( $all , a )"
  //- "rollup()", "1", "rolluprecursive($root/a,b)"
  groupItem = caseInsensitive<"rolluprecursive"> open hierarchy (comma transformations)? close -- recursive
            | caseInsensitive<"rollup"> open (rollupTotal comma)? path (comma path)* close -- rollup
            | path -- path

  //+ "$all", "$ALL"
  //- "all"
  rollupTotal = caseInsensitive<"$all">

  //+ "(", "( "
  //- "", " ("
  open = "(" ws

  //+ ")", " )"
  //- ""
  close = ws ")"
`
