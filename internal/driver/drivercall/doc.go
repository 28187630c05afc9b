// Package drivercall contains the common part of the two bindings of the CUDA driver,
// device/cuda and gorgoniacu: the checks before a driver call, and the texts of their
// errors. A binding makes the call and converts its result.
package drivercall
