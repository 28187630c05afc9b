// Package duckdb compares the answers of SQL statements with those of DuckDB. It is a separate module, so that
// the main module does not need DuckDB. It has tests only.
package duckdb
