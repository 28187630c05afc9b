// Package codegen writes PTX for expressions.
//
// A [Generator] turns a [tree.Program] into instructions that compute one row a
// lane: [Generator.Rows] adds them to a function being built, so that an operator
// can compute an expression inside its own kernel. [Run] computes a program with a
// kernel of its own.
//
// # Shape and arguments
//
// What the code depends on is the program's key and its [Shape]: whether the inputs
// have bitmaps and how these can be read. All else are arguments: 8-byte words, one
// struct that the kernel takes by value as its parameter. The addresses of values
// have the column's offset applied; those of bitmaps come with the number of the
// first bit. Literals are arguments too.
//
// An own kernel takes these steps:
//
//	shape, err := codegen.ShapeOf(program, columns)
//	key := shape.Append([]byte(program.Key))            // of the cached kernel; if there is none:
//	g, err := codegen.New(program, shape, "arguments")
//	values, err := g.Strided(b, row, 8, 32)             // rows row, row + 32, …: all less than n
//	text := ptx.Module(g.Functions(), ptx.Kernel{…, Parameters: {…, {Name: "arguments", Bytes: 8 * g.Words(), Struct: true}}})
//	...
//	words := new(kernels.Words)
//	err = g.Arguments(words, program, columns)          // each launch
//	function.Launch(stream, grid, block, 0, …, words)
//
// A generator may write several evaluations into one kernel, say one of many rows
// for a loop and, by [Generator.Guarded], one of what is left. Keep the generator with
// the kernel: it makes the arguments. [Cache] keeps both by device, key and shape, and
// finds them again without allocating.
//
// # First use
//
// A kernel is compiled by the driver when an expression is first met, which takes 4 ms
// for nothing at all and 45 µs for each instruction of the GPU's. So Run has two
// kernels, each compiled when first needed: for up to 2^18 rows one of a single row a
// lane, which has no loop and rarely takes more than 10 ms, and for more rows one of
// several, which keeps more loads on their way.
//
// A kernel that is written in CUDA C++ has holes, which [Generator.Splice] puts a
// predicate into.
//
// # Dictionaries
//
// Values of a dictionary column are loaded by their codes. Where a program compares
// the strings of a dictionary that is much shorter than the column, [Resolve] has a
// kernel answer that once for each value; the program then looks up a bit by the
// code. Run does so by itself; operators with kernels of their own call Resolve
// first.
//
// # Functions
//
// What takes more than a few instructions is a function of the .cu files here, which
// are compiled with the other kernels. The PTX of clang is taken apart, and a kernel
// gets the functions that it calls, and those alone: it has to be compiled by the
// driver when an expression is first met.
package codegen
