// Package lookback is the Go side of kernels/include/lookback.cuh and prefixes.cuh: how much memory
// the state of a launch takes, and, for the host, what lies before a tile, folded in
// the order in which a GPU folds it.
package lookback
