// Package adbc is a driver of ADBC, Arrow's interface to databases, in the process: statements in SQL, and results
// as Arrow records.
//
//	database, err := adbc.NewDriver().NewDatabase(map[string]string{"uri": "device=cuda:0&budget=8GiB"})
//	connection, err := database.Open(ctx)
//	statement, err := connection.NewStatement()
//	err = statement.SetSqlQuery("select city, sum(price) from 'sales.parquet' group by city")
//	reader, _, err := statement.ExecuteQuery(ctx)
//
// The option "uri" has the form of the data source names of package sql/driver. [NewDatabase] makes a database of
// a session that a program has already. A plan of Substrait is a statement too, in binary form or JSON.
//
// # Names and rows
//
// All connections of a database share its tables and views, which are in the catalog "memory" and the schema
// "main". Bulk ingest makes tables of records, which stay in host memory and move to the device with each query
// that reads them; CREATE TABLE … AS makes tables in device memory.
//
// Records arrive in batches; the memory of a query is in use until its reader is released.
//
// # Limits
//
// There are no transactions, partitions or statistics: these calls fail with StatusNotImplemented,
// Commit and Rollback with StatusInvalidState, as of a connection that commits each statement. Parameters have no
// types before they are bound. A statement with several rows of bound parameters has the rows of all, in their
// order.
package adbc
