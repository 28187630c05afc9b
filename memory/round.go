package memory

// roundUp rounds up to a multiple of a power of two.
func roundUp(value, multiple uint64) uint64 { return (value + multiple - 1) &^ (multiple - 1) }
