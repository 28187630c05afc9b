// Package aggregate accumulates values and merges what was accumulated, for
// reductions and what is built on them: as PTX for a GPU, and in Go for the host,
// which gives the same bits.
//
// A [Kind] says what is accumulated. It has two forms. A lane's is in registers,
// where [Lane] adds one row after the other. A partial is what lanes, warps and
// blocks hand to one another: a few words of 64 bits, which [Merge] merges two of.
//
// # Order
//
// Sums and products of floats, and moments, depend on the order of the additions.
// [Lanes] lanes take rows in turn, each adding its own in ascending order, and
// [Tree] merges their partials as neighbours: first 0 with 1, 2 with 3 and so on,
// then these results as neighbours, up to one. [Host] does the same. Nothing else
// in this package depends on an order.
package aggregate
