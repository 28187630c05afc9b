// Package parse reads SQL statements in the dialect of DuckDB and PostgreSQL.
//
// [Statements] returns the trees of the statements of a text. A fault is an [*Error] with the line, the column,
// and the forms that were expected there.
package parse
