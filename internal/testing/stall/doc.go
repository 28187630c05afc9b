// Package stall delays streams in tests of order.
//
// A test that starts long work and assumes that it is still running proves nothing on a
// fast device. Here a gate blocks the work of a stream until the test opens it. Work
// behind the gate cannot have run before, and a host thread that waits for it cannot
// continue, however fast the device is. A watchdog opens a gate that a test has left
// closed for too long, and fails the test.
//
// On a GPU the gate is a kernel that polls a word in pinned memory. On the host device
// it is a step of the stream; so it is on the devices of internal/testing/launchtest
// and internal/testing/faulttest, which are built on the host device.
//
// While a gate is closed, do not call operations that wait for the whole device:
// allocating and freeing through the driver, loading modules, and copies from and to Go
// memory belong before the stall or after its end.
package stall
