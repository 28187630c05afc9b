// Bench prints the first table of docs/performance.md: gpuframe's operations against their
// ceilings or peers, measured in one process on one device, as ratios.
//
//	go run ./bench                 # the first GPU, or the host
//	go run ./bench -device host    # the operations that need no GPU
//
// The host has no peer; only the times are printed.
package main
