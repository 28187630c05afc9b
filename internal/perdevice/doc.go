// Package perdevice keeps one value for each open device, such as code that was
// loaded onto it, made when it is first asked for.
//
// The values lie in the [device.Device], which forgets them when it is closed. A
// device that is closed and opened again is another [device.Device] and gets another
// value. A device that the program has dropped without closing it is collected, and
// its values with it.
package perdevice
