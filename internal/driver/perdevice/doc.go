// Package perdevice keeps one value for each open device, such as loaded
// code, which is created on first use.
//
// The [device.Device] holds the values and drops them when it is closed. A device that
// is closed and opened again is another [device.Device] and has another value. If the
// program drops a device without closing it, the collector frees it with its values.
package perdevice
