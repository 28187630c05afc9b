// Package selection picks and arranges the rows of tables and columns: filter,
// take, concatenate, reverse, head and tail, and the choice between two columns.
//
// Nulls follow Arrow's rules: a row that is taken by a null index is null, a row
// whose mask is null is dropped by a filter and null in a choice. What lies under
// a null in a result is undefined.
//
// # Types
//
// All of Arrow's types are taken, nested and sliced ones too. Dictionaries, the
// data buffers of binary views, and the children of list views and dense unions
// are shared with the input, not copied. Run-end encoded results have a run for
// every row. A row of a dense union that becomes null, which the format has no
// place for, is an error that wraps device.ErrNotSupported.
//
// # Waiting
//
// On a GPU the operators enqueue their work and return, but where the size of a
// result depends on values: see each of them. On the host device they return when
// the result is there.
//
// Results are new columns, which the caller releases. All functions may be called
// at the same time from several goroutines.
package selection
