// The rules of literals, a part of the grammar in url.grammar.ts: numbers, texts, dates and times, and what has a prefix.

export const literalRules = String.raw`  //+ "null", "true", "1", "-1.5e3", "'x'", "2024-01-31", "2024-01-31T10:00Z", "10:00", "duration'PT1M'", "NaN"
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
`
