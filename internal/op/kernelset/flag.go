package kernelset

// Flag returns a condition as kernels take it: 1 if it is met.
func Flag(b bool) uint32 {
	if b {
		return 1
	}
	return 0
}
