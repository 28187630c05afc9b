// Package backendtest is the conformance suite of the backend contract: it checks the
// documented behaviour of package backend on a device.
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
// The suite checks every method, errors as carefully as results. It makes only calls
// that are safe on a real driver: it passes no freed handles and no invalid addresses
// if a driver may crash on them. A backend that promises more must test that itself.
// The suite needs about 200 MiB of device memory and leaves none allocated. It skips
// the tests of operations that a device does not support, reported by
// [backend.ErrNotSupported], if the contract permits that.
//
// Run the tests of a backend with -race.
package backendtest
