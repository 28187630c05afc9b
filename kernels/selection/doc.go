// Package selection picks and arranges the rows of tables and columns: filter, take,
// concatenate, reverse, head and tail, and the choice between two columns.
//
// Nulls follow Arrow's rules. A row taken by a null index is null. A row with a null
// mask is dropped by a filter and null in a choice. The value under a null in a result
// is undefined.
//
// # Types
//
// The operators accept all of Arrow's types, nested and sliced columns included.
// Results share with the input, without a copy, dictionaries, the data buffers of
// binary views, and the children of list views and dense unions. Run-end encoded
// results have one run per row. The format has no null rows in dense unions: a row of a
// dense union that becomes null is an error that wraps device.ErrNotSupported.
//
// # Waiting
//
// On a GPU the operators enqueue their work and return, unless the size of a result
// depends on values; the documentation of each operator describes its waits. On the
// host device they return when the result is complete.
//
// # How it works
//
// A filter by a mask counts kept rows, scans the counts, and compacts all columns of one width
// in one launch. A filter by an expression evaluates the predicate, counts and compacts the
// columns that the predicate has loaded in one pass. Take gathers eight rows for each lane, and
// the same kernel records an index out of bounds. A result of a small slice with strings
// waits for two offsets, which bound it better than its parent does.
//
// # Ownership
//
// Results are new columns, which the caller releases. All functions are safe for
// concurrent use.
//
// # Estimates
//
// kernels.EstimateOf takes all operators. Estimates of fixed widths are exact for Take,
// Reverse, Tail and Choose. Others are upper bounds: a filter is estimated as if it kept
// every row, strings and lists as if all bytes and elements in memory were taken, and a
// row count that only the device knows as the capacity. Strings and lists have no bound,
// and an error that wraps device.ErrNotSupported, in run-end encoded columns and in a
// Take without Distinct.
//
// # Rows by number
//
// Operators that compute row numbers on the device, such as sorts and joins, gather
// whole tables by [RowNumbers] and [TakeWith]. The numbers and their count stay in
// device memory:
//
//	numbers, err := selection.RowNumbers(order, table.RowCount()) // order is a memory.Slice[uint32]
//	sorted, err := selection.TakeWith(ctx, table, numbers, selection.TakeOptions{
//		Options:  kernels.Options{Stream: call.Stream, Manager: call.Manager, Tag: call.Tag},
//		Bounds:   selection.Trust, // the operator computed them
//		Distinct: true,            // no row occurs twice: no wait for strings and lists
//	})
package selection
