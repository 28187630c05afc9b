// Package optest gives an operator its tests. An operator of one column that keeps the
// rows describes itself by a [Spec] and the expected results by a [Model], and
//
//	optest.Run(t, spec, model)
//
// compares them on the host, on the emulator of PTX and on every GPU: for all types,
// for slices, with no, some and only nulls, in poisoned memory, with inputs that end
// where their memory ends, with row counts on the device, on two streams and in a graph.
// It fails each allocation, cancels the context, compares what the operator allocates
// with its estimate, and requires that the random pipelines use the operator.
//
// [RunPair] tests an operator of two tables with a table as its result.
//
// Sizes are small under the race detector and on the emulator.
package optest
