// Package kernelset loads the kernels of an operator family: each file of a family's
// embedded PTX is compiled once for each device, when the first call needs it.
//
//	//go:embed cuda/*.ptx*
//	var code embed.FS
//
//	var set = kernelset.Set{Files: code, Directory: "cuda"}
//
//	f, err := set.Kernel(ctx, dev, "sum_64", "sum_64")
//
// A [Set] is for PTX that is part of the program. A [Generated] is for PTX that the
// program writes: it keeps a bounded number of compiled kernels for each device.
//
// # Waiting
//
// Of several callers that need the same kernel one compiles it, in its own goroutine.
// The others wait, each until its context is done. A kernel that is there already
// costs two look-ups without a lock and no allocation.
//
// # Lifetime
//
// Kernels are not closed. Closing the device drops all of them.
package kernelset
