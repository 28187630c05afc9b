// Package lookback is the Go side of kernels/include/lookback.cuh and prefixes.cuh: the
// size of the state of a launch and, for the host, the fold of the tiles before a tile,
// in the order in which a GPU folds them.
package lookback
