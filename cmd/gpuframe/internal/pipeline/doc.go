// Package pipeline reads queries written as text, and makes them queries of package gpuframe.
//
//	filter delay > 15 and origin in ("ATL", "ORD")
//	| group origin agg count() as flights, mean(delay) as mean
//	| top 10 by flights desc
//
// # Grammar
//
//	pipeline   = verb { "|" verb } .
//	verb       = "filter" expression { "," expression }
//	           | "select" items | "with" items
//	           | "group" items ( "agg" items | "pivot" expression "in" "(" literals ")" "agg" item ) | "agg" items
//	           | "sort" keys | "top" number "by" keys
//	           | "head" number | "tail" number | "slice" number number
//	           | "drop" names | "rename" name "as" name { "," name "as" name }
//	           | "distinct" [ names ] | "drop_nulls" [ names ] | "fill_null" literal "in" names
//	           | "explode" names | "unpivot" names [ "keep" names ]
//	           | "sample" number [ "seed" number ] | "shuffle" [ "seed" number ]
//	           | "random" name [ "seed" number ] | "row_number" name .
//	items      = expression [ "as" name ] { "," expression [ "as" name ] } .
//	keys       = expression [ "asc" | "desc" ] [ "nulls" "first" ] { "," … } .
//	expression = and { "or" and } .
//	and        = not { "and" not } .
//	not        = "not" not | comparison .
//	comparison = sum [ ( "=" | "==" | "!=" | "<>" | "<" | "<=" | ">" | ">=" ) sum
//	           | [ "not" ] "between" sum "and" sum
//	           | [ "not" ] "in" "(" expression { "," expression } ")"
//	           | [ "not" ] "like" text
//	           | "is" [ "not" ] "null" ] .
//	sum        = product { ( "+" | "-" ) product } .
//	product    = factor { ( "*" | "/" | "%" ) factor } .
//	factor     = "-" factor | primary { "over" "(" window ")" | "where" "(" expression ")" | "skip" "nulls" } .
//	window     = [ expressions ] [ "order" "by" keys ] [ "rows" bound "to" bound | "range" bound "to" bound ]
//	           [ "at" "least" number ] .
//	bound      = [ "-" ] number [ "day" | "hour" | "minute" | "second" ] | "start" | "end" .
//	primary    = number | text | "true" | "false" | "null" | "date" text | "timestamp" text
//	           | name | function "(" [ expressions ] ")" | "cast" "(" expression "," type ")"
//	           | "(" expression ")" .
//
// A name is letters, digits and underscores, or any text between backticks: `mean delay`.
// A text is between single or double quotes, which are doubled within it. Words are in
// lower case. "null" has the type of the other operands. "sample" keeps a fraction of the rows for a number below 1, else that many
// rows. The bounds of "rows" are relative to the row; those of "range" are differences of the
// order key, with a unit for times; "start" and "end" are no limit. [Functions] and [Types] list the names of functions and types. An expression
// means what the method of gpuframe.Expr with the same name does.
//
// # Errors
//
// Every error is an [*Error], which shows the place in the text. Texts that are not
// of the grammar wrap [ErrSyntax]. [Pipeline.Apply] finds unknown columns and types that do
// not fit, and shows the smallest expression at fault.
package pipeline
