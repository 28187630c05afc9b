// Package ptx writes PTX, the assembly language that NVIDIA's driver compiles.
//
// A [Builder] collects the instructions of one function or of one scope inside a
// function, and the registers they use. It does not check them: ptxas and the tests'
// emulator do.
package ptx
