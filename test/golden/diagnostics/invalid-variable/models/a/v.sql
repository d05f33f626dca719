SELECT ${} AS a, ${top:text} AS b, ${ top
