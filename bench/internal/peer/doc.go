// Package peer is the reference of the benchmarks: the same operations issued from C,
// on the same device, context and stream, in the same process.
//
// It loads the driver by itself and shares no code with package cuda, so that an error
// there cannot improve the comparison. Each function runs one operation many times
// within one call of C, so that its time includes no cost of Go.
package peer
