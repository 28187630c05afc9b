// Command bench prints the cost of calls through the two CUDA bindings, in nanoseconds,
// as a table for docs/performance.md. It needs a GPU.
package main
