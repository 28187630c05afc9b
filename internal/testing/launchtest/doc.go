// Package launchtest is a device for tests of the host code of kernel launches.
//
// The device imitates a GPU. Its memory and its streams are those of the host and its
// kernels are Go functions. Machines without a GPU can therefore test argument packing,
// checks and the tracking of memory. The results of the real kernels are not tested.
package launchtest
