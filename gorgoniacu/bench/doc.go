// Command bench prints the cost of calls through the two CUDA bindings, in nanoseconds,
// as a table for docs/measurements. It needs a GPU.
package main
