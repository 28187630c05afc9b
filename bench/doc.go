// Bench prints the first table of docs/performance.md: gpuframe's operations against their
// ceilings or peers, measured in one process on one device, as ratios.
//
//	go -C bench run .                 # the first GPU, or the host
//	go -C bench run . -device host    # the operations that need no GPU
//
// The host has no peer; only the times are printed.
//
// The module bench holds the benchmarks, so that programs with gpuframe do not get their packages.
// What documents of earlier dates call "go run ./bench/tpch" is "go -C bench run ./tpch" now, and
// relative paths among its arguments begin in this folder. The targets of make and the bundle for
// GPU machines need no other command.
package main
