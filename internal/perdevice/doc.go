// Package perdevice keeps one value for each open device, such as code that was
// loaded onto it, made when it is first asked for.
//
// A [Cache] ends the life of a value with that of its device: a device that is
// closed and opened again is another [device.Device] and gets another value. The
// cache holds devices weakly, so a device that the program has dropped is
// collected and its value with it.
package perdevice
