// Package elementwise computes on slices, element by element.
//
// It is also the worked example of a kernel in gpuframe. kernels/build.sh compiles
// cuda/add.cu to cuda/add.ptx. The PTX is embedded in the program, loaded onto a device
// by the first call of [Add] there, and launched by package kernels. On the host Add
// runs a plain loop, against which the kernel is tested.
package elementwise
