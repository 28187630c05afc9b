// Package substrait runs plans of Substrait, the format in which query engines hand plans to each other.
//
//	session := sql.New(engine)
//	session.Register("lineitem", engine.Parquet("lineitem/*.parquet"))
//	query, err := substrait.Query(ctx, session, plan) // a plan in binary form or in JSON
//	frame, err := query.Collect(ctx)
//
// A plan becomes a statement of package sql, which [Statement] returns as text: its subqueries, joins and sums are
// those of SQL there. Fields of relations have places in Substrait; the statement gives each table an alias.
//
// Relations: read (named and virtual tables, local files), filter, project, fetch, sort, aggregate, set, join, cross,
// the physical joins, windows, exchange, and references to other relations of the plan. Functions: those of
// Substrait's extensions that package sql has, by name; the extension that a plan names for them is not looked at,
// because producers differ in it. docs/sql.md has the list. Anything else is an [*Error] with its place in the plan;
// what package sql refuses is its error, with a place in the statement.
//
// Values that a type does not hold, and texts that cannot be cast, are null as in package sql, also if the plan
// wants a failure. Types of functions are those of package sql, with exceptions that follow the plan: a division of integers is one of
// integers, a sum of integers has the plan's type, and an average or quotient that the plan declares as a decimal is
// rounded to it.
//
// Functions of the package are safe for concurrent use.
package substrait
