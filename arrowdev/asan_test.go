//go:build asan

package arrowdev_test

// leaksAreFound says that the address sanitizer looks for leaks, those of other
// libraries too.
const leaksAreFound = true
