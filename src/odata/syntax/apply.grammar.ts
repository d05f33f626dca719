// The rules of $apply, a part of the grammar in url.grammar.ts.

export const applyRules = String.raw`// $apply: transformations, each of the rows that the one before has made.

  //+ "identity", "filter(a eq 1)/aggregate(a with sum as b)", " groupby((a,b/c)) ", "a.b(c)"
  //- "", "filter(a eq 1)/", "/identity", "filter(a eq 1) / identity"
  apply = ws transformations ws

  //+ "identity", "top(1)/skip(2)"
  //- "", "top(1)//skip(2)"
  transformations = transformation ("/" transformation)*

  //+ "aggregate($count as n,a with max as b)", "groupby((a))", "groupby((a),top(1)/skip(1))", "concat(identity,top(1))"
  //+ "filter( a eq 1 )", "search(a OR \"b\")", "compute(a add 1 as b,c as d)", "orderby(a desc,b)", "Top(1)"
  //+ "topcount(2,a)", "bottompercent(50 , a mul 2)", "IDENTITY", "join(a/b as c, d('x)'))"
  //- "aggregate()", "groupby(a)", "groupby((a),)", "concat(identity)", "top(a)", "top(-1)", "topcount(2)", "identity()", "nothing"
  transformation = applyAggregate | applyGroupBy | applyConcat | applyFilter | applySearch | applyCompute
                 | applyOrderBy | applyWindow | applyRanked | applyIdentity | applyOther

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

  // Anything else that looks like a transformation gets its own message.
  //+ "nest(a(b))", "x.y()", "ancestors($root/a,b,'it''s (')", "sum(a)"
  //- "nest", "nest(", "aggregate(a)", "topsum(a)"
  applyOther = ~(applyName "(") name ("." name)* "(" applyArgument* ")"

  //+ "top", "groupBy", "topsum"
  //- "nest"
  applyName = caseInsensitive<"aggregate"> | caseInsensitive<"groupby"> | caseInsensitive<"concat">
            | caseInsensitive<"filter"> | caseInsensitive<"search"> | caseInsensitive<"compute">
            | caseInsensitive<"orderby"> | caseInsensitive<"identity">
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
  //- "a", "with sum as b", "a with sum", "$count", "a with sum from b as c"
  aggregateItem = "$count" aggregateFrom* aggregateName -- count
                | expression aggregateMethod? aggregateFrom* aggregateName -- value

  //+ " as n"
  //- "as n", " as 1"
  aggregateName = rws caseInsensitive<"as"> rws name

  //+ " with sum", " WITH a.b"
  //- "with sum", " with 1"
  aggregateMethod = rws caseInsensitive<"with"> rws name ("." name)*

  //+ " from a,b/c with max"
  //- " from", " from a"
  aggregateFrom = rws caseInsensitive<"from"> rws path (comma path)* aggregateMethod

  //+ "a", "a/b", "rolluprecursive($root/a,b,c)", "rollup(a,b/c)", "Rollup( $all , a )"
  //- "rollup()", "1"
  groupItem = caseInsensitive<"rolluprecursive"> "(" applyArgument* ")" -- recursive
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
  close = ws ")"`
