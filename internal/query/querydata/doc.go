// Package querydata decodes queries that are data: documents in JSON, which other languages
// and other processes make. [Decode] returns the [gpuframe.Query] of a document, or an
// [*Error] that names the place in it. [DecodeData] takes a document that a program has made as
// data, such as the command line from a text.
//
//	{"version": 1, "steps": [
//	  {"verb": "parquet", "paths": ["sales/*.parquet"]},
//	  {"verb": "filter", "inputs": [0], "conditions": [
//	    {"function": "gt", "arguments": [{"function": "column", "name": "price"}, {"function": "literal", "value": 50}]}]},
//	  {"verb": "group", "inputs": [1],
//	   "keys": [{"function": "column", "name": "city"}],
//	   "aggregates": [{"function": "as", "name": "n", "arguments": [{"function": "count_rows"}]}]}]}
//
// A document has the version of the format, which is 1, and steps. The last step is the
// query. A step has a verb, the numbers of its inputs, which are earlier steps, and the
// members of its verb. A step that is the input of several others runs once. Members that a
// verb or a function does not have are errors.
//
// # Sources
//
//	given       number: a query that the caller of Decode has, such as one on a table
//	table       name: a table that the caller of Decode knows by its name
//	parquet     paths
//	csv         paths, delimiter, header, nulls, types (by column), infer_rows, strict
//	json_lines  paths, schema (objects with name, type, nullable), infer_rows, strict
//	ipc         paths
//	delta       path, version, timestamp: see package tableformat
//	iceberg     path, snapshot_id, timestamp, ref, moved
//
// # Verbs
//
// They are the methods of [gpuframe.Query].
//
//	filter      conditions
//	select      expressions
//	with        expressions
//	require     condition; message: the run ends with a [RequirementError] if a row does not meet the condition
//	drop        columns
//	rename      columns (pairs of the old and the new name)
//	group       keys, grouping (keys, rollup or cube) or sets (lists of columns), aggregates, drop_nulls
//	pivot       keys, grouping or sets, on, values (literals), aggregate, drop_nulls
//	unpivot     columns, keep
//	join        two inputs; kind, keys, on (objects with left and right), where, nulls_equal, suffix
//	as_of       two inputs; on (left and right), by (objects with left and right), direction, not_equal,
//	            tolerance (a literal), matched_only, sorted, suffix
//	nearest_to  two inputs; on (left and right), k, metric (l2, cosine, dot), dimensions, distance, rank, matched_only,
//	            suffix
//	sort        keys (objects with value, descending, nulls_first)
//	top         n, keys
//	head, tail  n
//	slice       offset, length
//	distinct    columns
//	union       one or more inputs
//	sql         any number of inputs; text: a statement, names: those of the inputs in it, arguments: literals
//	except, intersect  two inputs; all
//	cache       name: the rows of the input, which the caller of Decode may keep by the name
//	explode     columns, drop_empty, position
//	sample      fraction, seed, replace, by (expressions), weight
//	sample_rows n, seed, replace, by, weight (an expression)
//	resample    at (an expression), every (a literal), by and aggregates (expressions); instead
//	            of every it may have calendar, an object with number, unit, zone, week_start; span or
//	            span_calendar (number, unit), offset, closed, label
//	cross_tab   rows and columns (expressions), values (literals)
//	shuffle     seed
//	with_random name, seed
//	with_row_number name
//	drop_nulls  columns
//	fill_null   value (a literal), columns
//	prepare     kind: labels, one_hot, target_means, scaling, imputation or bins; fitted: the JSON of a value of package learn
//
// Each step may have a place, an object with verb, file and line, that problems of the query
// name.
//
// # Expressions
//
// An expression has a function, arguments that are expressions, and the members of its
// function. Most functions are methods of [gpuframe.Expr] in lower case with underscores.
//
// Their members are listed below, except those of over:
//
//	by        expressions
//	order     keys as of sort
//	rows      the first and the last row of the frame, relative to the row, null without a limit
//	range     the least and the greatest difference of the order key: literals, null, or objects with calendar:
//	          number, unit, zone
//	at_least  a number of values
//
// # Functions of the program
//
// The function call has arguments of any types and the member number: that of a function in [Options].
//
// # Literals
//
// The function literal has the members value and type. A literal without a type is null, a bool, a string, or a number, which adapts to the type
// of the other operand. The types integer, float, timestamp and duration adapt too.
// Other types are those of [Type]. Values are
//
//	bool                     true or false
//	integers                 a number, or a string of digits
//	floats                   a number, or "NaN", "Infinity", "-Infinity"
//	decimals                 a string such as "12.50", or a whole number
//	utf8                     a string
//	binary                   a string in base64
//	timestamp                "2026-06-01T12:00:00.5Z"; without a zone it is UTC
//	date32, date64           "2026-06-01"
//	time32, time64           "12:00:00.5"
//	every type of time       a number of units
//	duration                 a number of nanoseconds
//
// and null.
package querydata
