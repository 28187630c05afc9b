// Package device opens the devices that hold and compute on gpuframe's columns:
// NVIDIA GPUs and the host itself.
//
//	dev, err := device.Open("")       // the first GPU, or the host where there is none
//	dev, err := device.Open("cuda:1") // the second GPU
//	dev, err := device.Open("host")   // ordinary memory
//
// Nothing has to be linked or installed to use a GPU but NVIDIA's driver: it is
// looked for when a device is first asked for. A program built once runs on
// machines with and without one.
//
// A [Device] makes streams and events. Memory on it is handed out by package
// memory, which keeps the budget; [Device.Driver] gives the raw operations to
// packages that need them.
//
// Everything here may be used from any goroutine at any time.
package device
