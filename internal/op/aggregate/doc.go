// Package aggregate accumulates values and merges the results, for reductions and
// operators built on them. It generates PTX for a GPU and has the same code in Go for
// the host; both give the same bits.
//
// A [Kind] selects the accumulator, which has two forms. A lane's accumulator is in
// registers, to which [Lane] adds rows in order. A partial is the form that lanes,
// warps and blocks exchange: a few words of 64 bits. [Merge] merges two partials.
//
// # Order
//
// Sums and products of floats, and moments, depend on the order of the additions.
// [Lanes] lanes take rows round-robin, and each adds its rows in ascending order.
// [Tree] merges neighbouring partials: first 0 with 1, 2 with 3 and so on, then the
// neighbouring results, until one is left. [Host] uses the same order. Nothing else in
// this package depends on the order.
package aggregate
