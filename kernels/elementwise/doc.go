// Package elementwise computes on slices, element by element.
//
// It is also the worked example of a kernel in gpuframe. cuda/add.cu is compiled
// to cuda/add.ptx by kernels/build.sh; the PTX is embedded in the program, loaded onto a
// device when [Add] first meets it, and launched by package kernels. On the host
// the same function runs a plain loop, which is what the kernel is tested
// against.
package elementwise
