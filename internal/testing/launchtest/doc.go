// Package launchtest is a device for tests of what leads up to a kernel launch.
//
// It passes for a GPU, but its memory and its streams are the host's and its
// kernels are Go functions, so that packing of arguments, checks and the keeping
// of memory are tested on machines without a GPU. What the kernels themselves
// compute is not: that takes a device.
package launchtest
