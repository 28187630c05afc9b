// Package sql makes queries of SQL statements in the dialect of DuckDB and PostgreSQL.
//
//	session := sql.New(engine)
//	defer session.Close()
//	session.Register("sales", engine.Parquet("sales/*.parquet"))
//	query, err := session.Query(ctx, "select city, sum(price) from sales where day >= ? group by all", day)
//	frame, err := query.Collect(ctx)
//
// A [Session] has the names of tables and views. [Session.Query] returns the [gpuframe.Query] of a statement:
// nothing is read before it is run, and it can be part of other queries. docs/sql.md lists what is supported,
// and each known difference to DuckDB. Anything else is an error with its place in the text: a [*parse.Error].
//
// Names match without regard to case, in quotes too, and results have them as they were declared.
//
// The package stands above the engine, so that programs without SQL do not link the parser.
package sql
