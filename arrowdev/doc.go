// Package arrowdev is the door to the Arrow C Device data interface, by which
// libraries hand each other Arrow arrays in device memory without copying them.
//
// So far it holds the error type that its functions will return. Exporting and
// importing ArrowDeviceArray and its streams comes with the next release; until
// then columns travel through package dlpack.
package arrowdev
