// The grammar of everything in a URL that is more than a name or a number, after the OASIS ABNF for OData 4.01. It
// reads decoded text. Examples above a rule are run by a test: `//+` must match, `//-` must not. The rules of $apply,
// $expand and $search are in options.grammar.ts, which is put in here.
//
// Precedence of operators is not in the grammar: an expression is a flat list of operands and operators, which
// precedence.ts makes a tree. Each rule that is entered costs more than the characters it reads, so rules are flat, the
// common alternative comes first, and a list in grammar.ts says which rules are tokens: those are read by a regular
// expression built from their rule.

import { optionRules } from './options.grammar.ts'

export const urlGrammarSource = String.raw`
OData {
  // $filter, and the value of a parameter alias.

  //+ "a eq 1", "vip", "not (a eq 1) and b", "(1,2)"
  //- "", " vip", "vip ", "a eq", "a eq 1 b", "a equals 1)"
  wholeExpression = expression

  //+ "name", "name desc", "a add 1 desc, b ASC ,c", "desc desc"
  //- "", "name sideways", "a,", "a desc asc", "a;b"
  orderby = ws orderItem (comma orderItem)* ws

  //+ "name", "name desc", "length(name) Asc"
  //- "name sideways"
  orderItem = expression direction?

  //+ " asc", " DESC"
  //- "asc", " ascending"
  direction = rws (caseInsensitive<"asc"> | caseInsensitive<"desc">) ~idPart

  //+ "*", "name", "name , city", "customer/name", "*,name"
  //- "", "name,,city", "name;city", "1a", "a b"
  select = ws selectItem (comma selectItem)* ws

  //+ "*", "name", "address/city", "tags($top=2;$filter=$this gt 'a')", "address($select=city)"
  //- "**", "name/", "/name", "name()"
  selectItem = "*" -- all
             | selectPath expandOptions? -- path

  //+ "name", "address/city"
  //- "*", "name/"
  selectPath = name ("/" name)*

  //+ "a add 1 as b", "a mul 2 AS b , length(c) as d"
  //- "a add 1", "a as", "a as b c"
  compute = ws computeItem (comma computeItem)* ws

  //+ "a add 1 as b"
  //- "as b", "a as 1"
  computeItem = expression rws caseInsensitive<"as"> rws name

  // What stands between the parentheses of a resource.

  //+ "1", "'O''Neil'", "a=1,b='x'", "2024-01-01", "@k"
  //- "", "a=1,2", "1,2", "1 eq 1", "name"
  key = ws keyPair (comma keyPair)* ws -- named
      | ws keyValue ws -- value

  //+ "order_id=1", "a='x'", "a=@k"
  //- "a", "a=", "=1", "a = b"
  keyPair = name ws "=" ws keyValue

  //+ "1", "'x'", "@k"
  //- "a", "1 add 1"
  keyValue = literal | alias

${optionRules}
  // Expressions.

  //+ "a", "a eq 1", "not a and b", "a in (1,2) or b", "-a lt - 2", "a eq -5", "eq eq 1", "a\tEQ\t1"
  //- "a eq", "a eq1", "1a", "a desc", "a as b", "a=1"
  expression = operand (operator rws operand)*

  // Any word after a space but those that may follow an expression; whether it is an operator is found out later, with
  // a better message.
  //+ " eq", " \tAND", " plus", " descending"
  //- "eq", " as", " WITH", " desc", " a1"
  operator (an operator) = rws ~clauseWord ("a".."z" | "A".."Z")+

  //+ "as", "Asc", "DESC", "from", "with"
  //- "ascending", "eq"
  clauseWord = (caseInsensitive<"asc"> | caseInsensitive<"as"> | caseInsensitive<"desc"> | caseInsensitive<"from">
               | caseInsensitive<"with">) ~idPart

  // Most operands are one of the first four, which are tokens.
  //+ "a", "not a", "not(a)", "NOT not a", "-a", "- 5", "-(a)", "1", "'a'"
  //- "not ", "-"
  operand = word | number | string | names | otherOperand

  // A path of one name. The words null, true, false, NaN and INF are distinguished from names later.
  //+ "a", "null", "not", "nota"
  //- "a/b", "a.b", "f(x)", "not a", "binary'AQI='", "01234567-89ab-cdef-0123-456789ABCDEF"
  word (a name) = ~(("n" | "N") ("o" | "O") ("t" | "T") (" " | "\t")) name ~("(" | "'" | "-" | "/" | ".")

  // A path of names alone.
  //+ "a/b", "customer/address/city", "not/a"
  //- "a", "a/b(1)", "a/any(o:o/b)", "a/b.c", "a/b/$count", "$it/a"
  names (a name) = name ("/" name)+ ~("(" | "'" | "-" | "/" | ".")

  //+ "a/b", "not a", "- 5", "2024-01-31"
  //- "not ", "-"
  otherOperand = prefix* primary

  //+ "not ", "-"
  //- "nota", "+"
  prefix (a sign) = ("n" | "N") ("o" | "O") ("t" | "T") (rws | &"(") -- not
                  | &"-" ~number ~"-INF" "-" ws -- negate

  //+ "1", "'a'", "a/b", "f(x)", "(1)", "@p", "$it", "case(a:1)", "[1,2]"
  //- "", ")", "\"a\""
  primary = list | dateTime | date | timeOfDay | guid | value | case | call | number | string | keyword | prefixed
          | array | object | alias

  //+ "a", "null", "customer/name"
  //- "f(x)", "binary'AQI='", "01234567-89ab-cdef-0123-456789ABCDEF"
  value = ~callStart path ~("(" | "'" | "-")

  // What no path begins with: a key in parentheses begins with a literal, an alias, or a name and an equals sign.
  //+ "f(a,", "f(a)", "f(g(", "geo.length(a/", "case(a,"
  //- "f(", "f()", "a(1)", "a(b=1)", "a(null)", "a(shop.color'Red')", "a(01234567-89ab-cdef-0123-456789ABCDEF)"
  callStart = name ("." name)* "(" ws ~keyword name ("," | ")" | "(" | "/")

  // One item in parentheses is a group, or a list of one after "in".
  //+ "(1)", "( 1 , 2 )", "('a')", "(a eq 1)", "()"
  //- "(", "(1,)", "(,)"
  list = open ((plainItem | expression) (comma (plainItem | expression))*)? close

  // Lists may have thousands of items, and most of these are one token.
  //+ "1", "a", "'a'"
  //- "1 eq 1", "a desc", "a:1"
  plainItem (a name) = (word | number | string) &(ws ("," | ")" | "]" | end))

  //+ "f()", "contains(a,'b')", "geo.length( a )", "now()", "a.b(c=1,d=$root/e)"
  //- "f", "f (a)", "f(a", "f(a,)", "f(a=)"
  call = name ("." name)* (list | namedList)

  // The parameters of functions that a vocabulary defines have names.
  //+ "(a=1)", "( a = 1 , b = c/d )", "(a=$root/b,c=true)"
  //- "()", "(1)", "(a=1,)"
  namedList = open namedOperand (comma namedOperand)* close

  //+ "a=1", "a = b/c", "a=$root/b"
  //- "a", "=1", "a="
  namedOperand = name ws "=" ws expression

  // The JSON form of a list, as a parameter alias has it.
  //+ "[]", "[1, 2]", "[\"a\",'b',null]"
  //- "[", "[1,]", "{}"
  array = "[" ws (arrayItem (comma arrayItem)*)? ws "]"

  //+ "{}", "{\"a\":[1], \"b\" : {\"c\":null}}"
  //- "[]", "{a:1}", "{\"a\"}", "{\"a\":1,}"
  object = "{" ws (objectMember (comma objectMember)*)? ws "}"

  //+ "\"a\":1", "\"a\" : b/c"
  //- "a:1", "\"a\":"
  objectMember = jsonString ws ":" ws arrayItem

  //+ "1", "\"a\"", "\"\\u00e9\\\"\""
  //- "\"", "\"\\\""
  arrayItem = jsonString | plainItem | expression

  //+ "\"\"", "\"a b\"", "\"\\n\""
  //- "'a'", "\"a"
  jsonString = "\"" jsonCharacter* "\""

  //+ "a", "\\\\", "\\\""
  //- "\"", "\\"
  jsonCharacter = "\\" any -- escape
                | ~("\"" | "\\") any -- plain

  //+ "case(a eq 1:1,true:0)", "CASE( vip : 'a' )"
  //- "case()", "case(a)", "case (a:1)"
  case = caseInsensitive<"case"> "(" ws caseItem (comma caseItem)* ws ")"

  //+ "a:1", "a eq 1 : b add 1"
  //- "a", "a:"
  caseItem = expression ws ":" ws expression

  //+ "a", "$it", "$it/a", "orders(1)/amount", "$root/orders(1)/a(b=2)/c", "customer/name", "Edm.Int32", "orders/$count", "orders/any(o:o/a eq 1)", "a/b/all(x : x/y)"
  //- "a/", "/a", "1", "orders/$count/a"
  path = pathStart pathStep* (&"/" pathEnd)?

  // A name in a path is followed by "(" only when a key stands there.
  //+ "/a", "/a.b", "/a(1)"
  //- "/a(b:1)", "/a()", "a"
  pathStep = "/" name ("." name)* (&"(" pathKey)? ~"("

  //+ "(1)", "( a=1 , b='x' )"
  //- "(a)", "()"
  pathKey = "(" key ")"

  //+ "/$count", "/$count($filter=a eq 1)", "/$count($search=a b)", "/any()", "/ANY(o:o/a eq 1)", "/all(o : true)"
  //+ "/$filter(a eq 1)/$filter( b )/$count"
  //+ "/$filter(a)(1)/b", "/$filter(a)/any()"
  //- "/$ref", "/all", "/any(o)", "/some(o:o/a)"
  pathEnd = pathFilter* "/$count" countOptions? -- count
          | "/aggregate(" ws totalItem ws ")" -- total
          | "/" lambdaWord "(" ws (name ws ":" ws expression ws)? ")" -- lambda
          | pathFilter+ pathKey? pathRest* -- filtered

  //+ "($filter=a eq 1)", "( $search=a OR \"b;\" ; FILTER = b )"
  //- "()", "($filter=a;)", "($top=1)"
  countOptions = "(" ws countOption (ws ";" ws countOption)* ws ")"

  //+ "$filter=a eq 1", "search=a b"
  //- "$filter", "$search="
  countOption = "$"? caseInsensitive<"filter"> ws "=" ws expression -- filter
              | "$"? caseInsensitive<"search"> ws "=" search -- search

  //+ "$count", "a with sum", "a mul b with x.y", "a with sum from b with max", "$count from b with max"
  //- "a", "a with sum as b"
  totalItem = "$count" aggregateFrom* -- count
            | expression aggregateMethod aggregateFrom* -- value

  //+ "/$filter(a eq 1)"
  //- "/$filter", "/$filter()"
  pathFilter = "/$filter(" ws expression ws ")"

  //+ "/a", "/any()", "/all(o:o/a)"
  //- "/", "(1)"
  pathRest = "/" name ("(" ws (name ws ":" ws)? expression? ws ")")?

  //+ "any", "All"
  //- "some"
  lambdaWord = caseInsensitive<"any"> | caseInsensitive<"all">

  //+ "$it", "$this", "$these", "$root/orders", "name", "Edm.String"
  //- "$root", "."
  pathStart = ("$it" | "$this" | "$these") ~idPart -- it
            | "$root/" name pathKey? -- root
            | alias &"/" -- alias
            | rollupNode -- rollup
            | name ("." name)* (&"(" pathKey &"/")? -- name

  //+ "Aggregation.rollupnode()", "org.odata.aggregation.v1.RollupNode( Position = 2 )"
  //- "rollupnode()", "Aggregation.rollupnode", "Aggregation.rollupnode(2)"
  rollupNode = (caseInsensitive<"org.odata.aggregation.v1."> | caseInsensitive<"aggregation.">)
               caseInsensitive<"rollupnode"> "(" ws (caseInsensitive<"position"> ws "=" ws digit+ ws)? ")"

  //+ "@p", "@p1"
  //- "@", "@1"
  alias = "@" name

  //+ "null", "true", "1", "-1.5e3", "'x'", "2024-01-31", "2024-01-31T10:00Z", "10:00", "duration'PT1M'", "NaN"
  //- "1a", ".5", "5.", "abc", "\"x\""
  literal = number | string | dateTime | date | timeOfDay | guid | keyword | prefixed

  //+ "0", "-1", "+1", "1.50", "1e3", "1E-3", "99999999999999999999"
  //- "1.", ".5", "1e", "--1", "1a", "2024-01", "10:00", "1.5.2"
  number (a number) = ~("0".."9" "0".."9" ":" "0".."9" "0".."9") ("-" | "+")? ("0".."9")+ ("." ("0".."9")+)? (("e" | "E") ("-" | "+")? ("0".."9")+)?
           ~("0".."9" | "a".."z" | "A".."Z" | "_" | "-" | ".")

  //+ "''", "'O''Neil'", "'a b'", "'\\'", "'ü'"
  //- "'", "'a'b'", "'a''"
  string = "'" stringText "'"

  //+ "", "a b", "O''Neil", "ü"
  //- "'", "a'b"
  stringText = (" ".."&" | "(".."~" | "''" | ~"'" any)*

  //+ "2024-01-31", "0001-01-01", "99999-12-31", "-0001-01-01"
  //- "2024-1-31", "24-01-31", "2024-01-31T", "2024-01"
  date (a date or time) = "-"? digit digit digit digit+ "-" digit digit "-" digit digit ~(idPart | "-")

  // A plus sign that was not encoded has become a space.
  //+ "2024-01-31T10:30Z", "2024-01-31t10:30:00.123456789z", "2024-01-31T10:30:00+02:00", "2024-01-31T10:30:00 02:00"
  //- "2024-01-31T10:30", "2024-01-31 10:30Z", "2024-01-31T10:30:00+0200"
  dateTime (a date or time) = "-"? digit digit digit digit+ "-" digit digit "-" digit digit ("T" | "t") clock offset ~idPart

  //+ "Z", "+01:00", "-11:30"
  //- "", "+1", "UTC"
  offset = "Z" -- upper
         | "z" -- lower
         | ("+" | "-" | " ") digit digit ":" digit digit -- hours

  //+ "10:30", "10:30:00", "23:59:59.999999"
  //- "10", "1:30", "10:30:", "10:30Z"
  timeOfDay (a date or time) = clock ~(idPart | ".")

  //+ "10:30", "10:30:00.5"
  //- "10"
  clock = digit digit ":" digit digit (":" digit digit ("." digit+)?)?

  //+ "01234567-89ab-cdef-0123-456789ABCDEF"
  //- "01234567-89ab-cdef-0123-456789ABCDE", "g1234567-89ab-cdef-0123-456789ABCDEF"
  guid (a GUID) = hex4 hex4 "-" hex4 "-" hex4 "-" hex4 "-" hex4 hex4 hex4 ~(idPart | "-")

  //+ "01aF"
  //- "01ag", "01a"
  hex4 = ("0".."9" | "a".."f" | "A".."F") ("0".."9" | "a".."f" | "A".."F") ("0".."9" | "a".."f" | "A".."F") ("0".."9" | "a".."f" | "A".."F")

  //+ "null", "TRUE", "false", "NaN", "INF", "-INF"
  //- "nul", "nullable", "true1", "nan", "NULL"
  keyword (true, false or null) = &("n" | "t" | "T" | "f" | "F" | "N" | "I" | "-")
            ("null" | caseInsensitive<"true"> | caseInsensitive<"false"> | "NaN" | "INF" | "-INF") ~idPart

  // A type before the quotes: duration, binary, geography, or the name of an enumeration.
  //+ "duration'PT1M'", "binary'AQI='", "shop.color'Red'", "geography'POINT(1 2)'"
  //- "duration", "'x'", "duration 'PT1M'", "X'1a'"
  prefixed = (typePrefix | enumPrefix) string

  //+ "shop.color"
  //- "color"
  enumPrefix = name ("." name)+

  //+ "duration", "Binary"
  //- "durations", "x"
  typePrefix = caseInsensitive<"duration"> | caseInsensitive<"binary"> | caseInsensitive<"geography">
             | caseInsensitive<"geometry">

  // Everything beyond ASCII is taken for a letter here; the entity model knows which names there are.
  //+ "a", "_a1", "größe", "名"
  //- "", "1a", "a-b", "a b", "$a"
  name (a name) = ("a".."z" | "A".."Z" | "_" | "\u{80}".."\u{10ffff}") ("a".."z" | "A".."Z" | "0".."9" | "_" | "\u{80}".."\u{10ffff}")*

  //+ "a", "1", "_", "ü"
  //- "-", " ", "$"
  idPart = "a".."z" | "A".."Z" | "0".."9" | "_" | "\u{80}".."\u{10ffff}"

  //+ ",", " , "
  //- ""
  comma = ws "," ws

  //+ "", " \t"
  //- "a"
  ws = (" " | "\t")*

  //+ " ", "\t "
  //- ""
  rws (a space) = (" " | "\t")+
}
`
