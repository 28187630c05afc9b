// Package buffer holds Arrow tables in device memory.
//
//	table, err := buffer.FromRecord(mgr, record) // one allocation, one transfer
//	defer table.Release()
//	delays := table.Column(0)                    // *column.Column, borrowed
//	back, err := table.Record(ctx)               // to the host again
//
// A [Buffer] is an Arrow schema, a column for each of its fields, and a number of
// rows. Tables are immutable, and [Buffer.Select], [Buffer.Slice] and
// [Buffer.AppendColumn] make new ones of the same memory.
//
// # Rows that only the device knows
//
// An operator whose output depends on data, such as a filter, knows before it runs how
// many rows it may write, but how many it has written only afterwards, on the device. So
// a Buffer has a capacity, which is the length of its columns, and a row count that may
// lie in device memory: the next operator reads it there and nobody waits. The columns
// share the count, so one that is taken from the table has the table's rows.
// [Buffer.NumRows] fetches it, checks it against the capacity, and keeps it for all of
// them.
//
// # Checks
//
// Loads check what records contain, for operators rely on it: see column.FromArrays.
// LoadOptions.Unchecked leaves that out.
//
// # Ownership
//
// Whoever gets a Buffer from a function releases it. The columns that Column
// returns are borrowed. A Buffer may be used from any goroutine.
package buffer
