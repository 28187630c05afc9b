//go:build !asan

package arrowdev_test

// leaksAreFound reports whether the address sanitizer looks for leaks, including
// those of other libraries.
const leaksAreFound = false
