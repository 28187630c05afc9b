// Package buffer holds Arrow tables in device memory.
//
//	table, err := buffer.FromRecord(mgr, record) // one allocation, one transfer
//	defer table.Release()
//
//	delays := table.Column(0)                    // *column.Column, borrowed
//	back, err := table.Record(ctx)               // to the host again
//
// A [Buffer] has an Arrow schema, a column for each field, and a number of rows.
// Tables are immutable; [Buffer.Select], [Buffer.Slice] and [Buffer.AppendColumn]
// make new tables of the same memory.
//
// # Row counts on the device
//
// An operator whose output size depends on data, such as a filter, knows only a bound
// before it runs. The actual row count is then in device memory. So a Buffer has a
// capacity, which is the length of its columns, and a row count that may be on the
// device: the next operator reads it there without a synchronization. The columns
// share the count, a column of the table therefore has the table's rows. [Buffer.NumRows]
// fetches the count, checks it against the capacity, and caches it for all of them.
//
// # Checks
//
// Loads check the contents of records, because operators rely on them: see
// column.FromArrays. LoadOptions.Unchecked skips these checks.
//
// # Ownership
//
// The caller that gets a Buffer from a function releases it. Column returns borrowed
// columns. A Buffer is safe for concurrent use.
package buffer
