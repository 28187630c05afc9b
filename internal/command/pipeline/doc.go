// Package pipeline reads queries written as text, and makes them query documents, of which package
// querydata has the format and makes queries of package gpuframe.
//
//	filter delay > 15 and origin in ("ATL", "ORD")
//	| group origin agg count() as flights, mean(delay) as mean
//	| top 10 by flights desc
//
// # Grammar
//
//	pipeline   = verb { "|" verb } .
//	verb       = "filter" expressions | "select" items | "with" items
//	           | "require" expression [ "message" text ]
//	           | "group" items [ "drop" "nulls" ]
//	             ( "agg" items | "pivot" expression "in" "(" literals ")" "agg" item )
//	           | "agg" items | "cross_tab" expression "by" expression "in" "(" literals ")"
//	           | "resample" expression "every" length [ "span" length ] [ "offset" length ] [ "closed" name ]
//	           [ "label" name ] [ "by" expressions ] "agg" items
//	           | "sort" keys | "top" number "by" keys
//	           | "head" number | "tail" number | "slice" number number
//	           | "drop" names | "rename" name "as" name { "," name "as" name }
//	           | "distinct" [ names ] | "drop_nulls" [ names ] | "fill_null" literal "in" names
//	           | "explode" names { "drop" "empty" | "position" name } | "unpivot" names [ "keep" names ]
//	           | "sample" number { seed | "replace" | "by" expressions } | "shuffle" [ seed ]
//	           | "random" name [ seed ] | "row_number" name
//	           | "join" [ kind ] other { "on" terms | "using" names | "matching" expressions
//	             | "nulls" "equal" | suffix }
//	           | "as_of" other "on" term { "by" terms | "backward" | "forward" | "nearest" | "unequal"
//	             | "within" literal | "matched" | "sorted" | suffix }
//	           | "nearest_to" number other "on" term { "l2" | "cosine" | "dot" | "dimensions" number
//	             | "distance" name | "rank" name | "matched" | suffix }
//	           | "union" other { "," other } | ( "except" | "intersect" ) [ "all" ] other | "cache" name .
//	other      = source | "(" source { "|" verb } ")" .
//	source     = text | "table" text .
//	kind       = "inner" | "left" | "right" | "full" | "semi" | "anti" | "cross" .
//	terms      = term { ( "," | "and" ) term } .
//	term       = sum "=" sum | expression .
//	suffix     = "suffix" text .
//	seed       = "seed" number .
//	length     = number [ unit ]
//	           | number ( "day" | "week" | "month" | "quarter" | "year" ) [ "in" text ] [ "from" weekday ] .
//	items      = item { "," item } .
//	item       = expression [ "as" name ] .
//	keys       = expression [ "asc" | "desc" ] [ "nulls" "first" ] { "," … } .
//	expression = and { "or" and } .
//	and        = not { "and" not } .
//	not        = "not" not | comparison .
//	comparison = sum [ ( "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) sum
//	           | [ "not" ] "between" sum "and" sum
//	           | [ "not" ] "in" "(" expression { "," expression } ")"
//	           | [ "not" ] "like" text [ "escape" text ]
//	           | "is" [ "not" ] "null" ] .
//	sum        = product { ( "+" | "-" ) product } .
//	product    = factor { ( "*" | "/" | "%" ) factor } .
//	factor     = "-" factor | primary { "over" "(" window ")" | "where" "(" expression ")" | "skip" "nulls" } .
//	window     = [ expressions ] [ "order" "by" keys ] [ "rows" bound "to" bound | "range" bound "to" bound ]
//	           [ "at" "least" number ] .
//	bound      = [ "-" ] number [ unit ] | "start" | "end" .
//	unit       = "day" | "hour" | "minute" | "second" | "millisecond" | "microsecond" | "nanosecond" .
//	primary    = number [ unit ] | text | "true" | "false" | "null" | "date" text | "timestamp" text
//	           | name | function "(" [ argument { "," argument } [ "order" "by" keys ] ] ")" | "(" expression ")" .
//	argument   = item | type .
//	type       = name [ "(" … ")" | "[" … "]" ] | text .
//
// A name is letters, digits and underscores, or any text between backticks: `mean delay`.
// A text is between single or double quotes, which are doubled within it. Words are in
// lower case; units may end with s. "null" has the type of the other operands.
//
// Functions are those of package catalog, by their names or aliases: arguments are the operands, and
// then the members of the document. [Types] lists the types without parameters.
//
// "sample" keeps a fraction of the rows for a number below 1, else that many rows. The bounds of "rows"
// are relative to the row; those of "range" are differences of the order key, with a unit for times;
// "start" and "end" are no limit.
//
// An other side is files, or a table that a server knows by its name, with verbs. A term of a join is an
// equality of an expression of the left side and one of the right side, or an expression that both sides
// have. "matching" has conditions on the columns of both sides.
//
// # Errors
//
// Every error is an [*Error], which shows the place in the text. Texts that are not
// of the grammar wrap [ErrSyntax]. [Pipeline.Apply] finds unknown columns and types that do
// not fit, and shows the smallest expression at fault.
package pipeline
