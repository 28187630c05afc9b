// Package device opens the devices that hold and compute on gpuframe's columns: NVIDIA
// GPUs and the host itself.
//
//	dev, err := device.Open("")       // the first GPU, or the host if no GPU is usable
//	dev, err := device.Open("cuda:1") // the second GPU
//	dev, err := device.Open("host")   // ordinary memory
//
// To use a GPU a program needs only NVIDIA's driver, which is loaded when a device is
// first opened. One binary runs on machines with and without a GPU.
//
// A [Device] makes streams and events. Package memory allocates memory on it and keeps
// the budget; [Device.Driver] gives the raw operations to packages that need them.
//
// Everything here is safe for concurrent use.
package device
