// Package round rounds sizes.
package round

// Up rounds value up to a multiple of a power of two. The result wraps around on
// overflow.
func Up(value, multiple uint64) uint64 { return (value + multiple - 1) &^ (multiple - 1) }
