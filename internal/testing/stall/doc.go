// Package stall holds streams up in tests of order.
//
// A test that starts long work and hopes that it is still running proves nothing on
// a fast device. Here the work on a stream stops at a gate until the test opens it:
// what comes after it must not have happened before, however fast the device is,
// and what waits for it on the host never goes on. A watchdog opens a gate that a
// test has left closed for too long, and fails the test.
//
// On a GPU the gate is a kernel that looks at a word in pinned memory; on the host
// device, and on the devices of internal/testing/launchtest and internal/testing/faulttest, which
// stand on it, a step of the stream.
//
// A device that is held up must not be given work that waits for the whole of it:
// what allocates and frees through the driver, loads modules, or copies from and to
// memory of Go's belongs before the stall or after its end.
package stall
