// Package exchange moves tables between the devices of a process.
//
//	parts[i], err = exchange.PartitionByHash(ctx, tables[i], keys, len(managers)) // on each device i
//	tables, err = exchange.AllToAll(ctx, parts, managers)                         // equal keys are now on one device
//
// [Copy] moves a table to another device, [Gather] several tables to one, [Broadcast] one
// table to several, [AllGather] the tables of all devices to every device, and [AllToAll] a part of
// each device's table to every device. [Reduce] combines the tables of several devices to one. A
// result belongs to the manager of its device. Tables of all types travel, with nulls, nested values
// and dictionaries.
//
// # Routes
//
// Memory moves by peer copies if the driver lets one device access the other's memory, and
// otherwise through pinned host memory, in rounds of Options.RoundBytes. So do tables
// between devices of different kinds. [RouteBetween] reports which.
//
// # Memory
//
// The columns of a table move in sequence. A device needs memory for the result and, if the
// rows of a result come from several tables, for the parts of one column at a time. Columns of
// a fixed width without nulls need no more than the result: their parts move to their place. Rows outside a slice are not moved: a slice with strings or lists, on any level, is
// first copied to memory of its size on the device that has it, in parts if its budget does not
// suffice for all. Values of a fixed width need no such copy.
//
// Columns that share a dictionary share it at their destination. Equal dictionaries of
// several devices become one if they hold numbers or strings of at most 16 MiB, for the host
// compares them. Others are concatenated: see selection.Concat.
//
// # Order
//
// The functions wait for row counts and for copies through pinned memory, but not for peer
// copies: these run on the stream of the destination's manager, after the pending work on
// the table, and work on the result is ordered after them. The tables may be released as
// soon as the function returns.
//
// The copies of [AllGather] and [AllToAll] wait for the work that is pending when it begins, and not for each
// other: each device receives while it sends. A device that receives 16 MiB or more does so on
// a further stream.
//
// # Errors
//
// An error names the column and the devices. After an error, or if the context ends, which
// is checked between columns and between rounds, nothing stays allocated.
package exchange
