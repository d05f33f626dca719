// The rules of $search, a part of the grammar in url.grammar.ts.

/**
 * Stands for a semicolon that was written %3B: that one is a part of a word, a plain one is not (ABNF, searchWord). No
 * decoded text has half a surrogate pair.
 */
export const ENCODED_SEMICOLON = '\ud83b'

export const searchRules = String.raw`  // $search: words and phrases. Two terms side by side are joined by AND. The words AND, OR and NOT are operators only
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
`
