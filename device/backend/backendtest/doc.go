// Package backendtest is the conformance suite of the backend contract: what
// package backend says in words, checked against a device.
//
// The author of a backend calls [Run] from an ordinary test:
//
//	func TestConformance(t *testing.T) {
//		backendtest.Run(t, func(t testing.TB) backend.Device {
//			d, err := mydriver.Driver{}.Open(0)
//			require.NoError(t, err)
//			return d
//		})
//	}
//
// The suite checks every method, with errors as carefully as results. It does
// only what is safe on a real driver: it passes no freed handles and no wild
// addresses where a driver may crash on them, so a backend that promises more
// tests that itself. It needs about 200 MiB of device memory and leaves none
// allocated. What a device declares unsupported, by
// [backend.ErrNotSupported], is skipped where the contract allows that.
//
// Run the tests of a backend with -race.
package backendtest
