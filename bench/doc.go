// Bench prints what docs/performance.md holds: gpuframe's paths beside their
// ceilings or peers, measured in one process on one device, as ratios.
//
//	go run ./bench                 # the first GPU, or the host
//	go run ./bench -device host    # the paths that need no GPU
//
// On the host there is nothing to compare with; the times are printed alone.
package main
