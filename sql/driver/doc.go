// Package driver is a driver of database/sql. Its name is "gpuframe":
//
//	import _ "github.com/gpuframe/gpuframe/sql/driver"
//
//	db, err := sql.Open("gpuframe", "device=cuda:0&budget=8GiB")
//	rows, err := db.QueryContext(ctx, "select city, sum(price) from 'sales.parquet' where year = ? group by city", 2026)
//
// [NewConnector] makes a database of an engine and names that a program has already, for [sql.OpenDB].
//
// # Data source names
//
// A name has options like the query of a URL. Without options the database uses the first GPU, or the host if
// the process can use no GPU.
//
//	device     device, as gpuframe.Device has it: "cuda:1", "host"; several times: gpuframe.Devices
//	budget     bytes of device memory, such as 8GiB
//	spill      directory for rows that memory does not suffice for
//	spill_budget  bytes of host memory for them
//
// # Connections
//
// A database has one engine and one set of tables and views. All its connections share them: connections cost
// nothing, and a table that one makes is there for all. Rows arrive in batches; the memory of a query is in use
// until its rows are closed. Canceling the context of a query ends it. [sql.DB.Close] closes the engine if the
// driver opened it.
//
// There are no transactions: each statement is done or fails alone, and Begin is an error.
//
// # Types
//
//	column                          value
//	bool                            bool
//	integers                        int64; uint64 for uint64
//	floats                          float64
//	decimals                        string with all digits
//	utf8, dictionaries of it        string
//	binary                          []byte
//	dates, timestamps               time.Time; in UTC if the type has no zone
//	times of day, durations         time.Duration
//	lists, structs, maps            string of JSON
//
// Nulls are nil. Arguments are those of sql.Session.Query.
package driver
