// Package flight serves tables and queries over Arrow Flight, the network protocol of Arrow
// on gRPC, and reads them in Go. Clients of other languages need only their Flight library:
// pyarrow.flight, or an ADBC driver for Flight SQL.
//
//	server, err := flight.NewServer(engine, flight.Options{
//		Clients: []flight.ClientAccess{{Name: "reports", Token: token, Budget: 4 << 30}},
//	})
//	err = server.Share("flights", engine.Parquet("flights-3m.parquet"))
//	listener, err := tls.Listen("tcp", ":8815", certificates)
//	err = server.Serve(listener)
//
// # What a client can do
//
// Tables are named by descriptors with a path of one element. A client sees the shared tables
// and its own uploads, which no other client sees.
//
//   - ListFlights lists the tables with their schemas, and their rows if they are known.
//   - GetFlightInfo and GetSchema describe a table, or the result of a query: a descriptor
//     with a command that is a query in SQL, or a query document, the JSON of package
//     internal/query/querydata. The verb "table" with the member "name" is the source for tables.
//   - DoGet streams a table or a result. A ticket is a table's name or a query document, in
//     JSON: {"table": "flights"} or {"version": 1, "steps": […]}, or a query in SQL. Clients may write tickets
//     themselves.
//   - DoPut with a path uploads a table into device memory of the client's budget. It replaces
//     the client's table of that name when the stream has ended without an error.
//   - DoAction: "drop" removes an uploaded table; "explain" returns the plan of a query.
//
// Flight SQL clients get the tables by their metadata calls, and execute queries in SQL, or query
// documents or plans of Substrait, as statements. Prepared statements have parameters. Statements that are no queries, such as
// CREATE TABLE, are errors, and there are no transactions.
//
// # Access and limits
//
// A server does not listen until [Server.Serve]. Each call needs a bearer token of
// [Options].Clients; without clients, all callers are the client "anonymous". The queries and tables of a client use
// the device memory of a tenant, [gpuframe.Engine.Tenant], and no more. A document may read
// files only of [Options].Files. [Limits] bound messages, streams, uploads and the time
// for which a client may not read: a stream that is not read ends. While it waits, a stream
// holds some [Limits].BatchBytes in host memory, and the part of a result that is not yet sent
// in the device memory of the client's budget. A call without a valid token ends with its
// headers: the server receives no message of it.
//
// # Errors
//
// Errors travel as gRPC statuses: InvalidArgument for documents and queries that are wrong,
// NotFound for tables, Unauthenticated, ResourceExhausted for budgets and limits,
// DeadlineExceeded for clients that do not read, Unavailable after [Server.Close]. Their texts
// have at most 2,000 bytes, and absolute paths in them are without their folders.
package flight
