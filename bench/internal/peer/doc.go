// Package peer is the other side of the benchmarks: the same operations as C
// issues them, on the same device, context and stream, in the same process.
//
// It finds the driver by itself and shares no code with package cuda, so that a
// mistake there cannot flatter the comparison. Each function runs one operation
// many times within one call of C, so that no cost of Go's is in its time.
package peer
