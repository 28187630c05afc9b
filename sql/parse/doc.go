// Package parse reads SQL statements in the dialect of DuckDB, which contains the queries of PostgreSQL.
//
// [Statements] returns the trees of the statements of a text, [Expr] that of an expression, and [Format] the text of
// a tree. A fault is an [*Error] with the place at which a person looks for it, the forms that were expected there,
// and the keyword that a misspelt one may stand for.
//
// # Dialect
//
//   - Queries: SELECT, FROM before or without SELECT, VALUES, TABLE, WITH [RECURSIVE] with MATERIALIZED,
//     UNION, INTERSECT and EXCEPT with ALL and BY NAME, ORDER BY with ALL and NULLS FIRST, LIMIT with PERCENT, OFFSET,
//     FETCH, DESCRIBE and SHOW in parentheses.
//   - SELECT: DISTINCT ON, names before a colon, * with EXCLUDE, REPLACE, RENAME and LIKE, COLUMNS, GROUP BY with ALL,
//     ROLLUP, CUBE and GROUPING SETS, HAVING, WINDOW, QUALIFY, USING SAMPLE.
//   - Tables: names, files in quotes, functions, queries, LATERAL, all joins with ON, USING and NATURAL, ASOF,
//     POSITIONAL, SEMI and ANTI joins, PIVOT and UNPIVOT, TABLESAMPLE.
//   - Expressions: operators with DuckDB's precedence, CASE, CAST, TRY_CAST and ::, IN, BETWEEN, LIKE, ILIKE, GLOB and
//     SIMILAR TO, ANY and ALL, lists, structs, maps, rows, subscripts, slices, fields, methods, lambdas,
//     comprehensions, intervals, typed texts, COLLATE, AT TIME ZONE, the functions with words such as EXTRACT, FILTER,
//     WITHIN GROUP, IGNORE NULLS, OVER with all frames, parameters ?, $1 and $name.
//   - Statements: CREATE TABLE and VIEW … AS, DROP TABLE and VIEW, COPY … TO, DESCRIBE, SUMMARIZE, SHOW, EXPLAIN.
//   - Tokens: names in any case, which they keep, in any script, and in double quotes; texts in single quotes, E'…',
//     and between $$; nested comments; numbers with underscores.
//
// Names are not resolved, and functions and types are not known here.
//
// # Differences from DuckDB
//
// Texts are accepted and refused as by DuckDB 1.4, and mean the same. The exceptions:
//
//   - Statements that change rows, sessions and catalogs, and a few rare forms, are refused with a message that names
//     them: testdata/left-out.sql lists them.
//   - BETWEEN SYMMETRIC, 0xff as a number, and \u in E'…' are PostgreSQL's. DuckDB refuses the first and the last, and
//     reads 0xff as 0 with the name xff.
//   - The operator == has two operands, not one.
//   - Names of windows, arguments of functions and parameters of types are not checked: DuckDB's
//     parser does.
//   - Texts with a byte that is zero are refused.
//   - AND and OR have chains of any length. DuckDB limits their depth.
//
// # Limits
//
// A text has at most [MaxLength] bytes and [MaxTokens] tokens, a tree and a type at most [MaxDepth] levels. Memory is proportional to the
// length of the text.
package parse
