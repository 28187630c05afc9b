// Package codegen writes PTX for expressions.
//
// A [Generator] turns an [exprtree.Program] into instructions that compute one row per
// lane. [Generator.Rows] adds them to a function that is being built, so that an
// operator can compute an expression inside its kernel. [Run] computes a program with a
// separate kernel.
//
// # Shape and arguments
//
// The code depends on the program's key and its [Shape]: whether the inputs have
// bitmaps and how these can be read. More than four inputs share one shape in which all
// bitmaps are optional. Everything else is an argument: 8-byte words in
// one struct, which the kernel takes by value as its parameter. Addresses of values
// include the column's offset; addresses of bitmaps come with the number of the first
// bit. Literals are arguments too.
//
// A kernel that uses a generator takes these steps:
//
//	shape, err := codegen.ShapeOf(program, columns)
//	key := shape.Append([]byte(program.Key))            // of the cached kernel; if it is not cached:
//	g, err := codegen.New(program, shape, "arguments")
//	values, err := g.Strided(b, row, 8, 32)             // rows row, row + 32, …: all less than n
//	text := ptx.Module(g.Functions(), ptx.Kernel{…, Parameters: {…, {Name: "arguments", Bytes: 8 * g.Words(), Struct: true}}})
//	...
//	words := new(kernels.Words)
//	err = g.Arguments(words, program, columns)          // each launch
//	function.Launch(stream, grid, block, 0, …, words)
//
// A generator may write several evaluations into one kernel, for example one of several
// rows for a loop and, with [Generator.Guarded], one for the remaining rows. Keep the
// generator with the kernel, because it makes the arguments. [Cache] keeps both by
// device, key and shape, and finds them without allocating.
//
// # Rows and lanes
//
// Each warp takes consecutive rows, each of its lanes every 32nd, so that lanes load and store
// neighbouring values together and one ballot makes a word of bits. A lane loads all its rows,
// then computes, then stores. Bits at any offset are read by aligned words that the lanes
// share, or by bytes if the words at the ends may exceed the memory. Nulls are predicates: if
// no value can be null, no validity is loaded, computed or written. testdata/few.ptx and
// many.ptx are the kernels of (x*2+y) > 1 & (x < y), for readers.
//
// # First use
//
// The driver compiles a kernel when an expression is first used, which takes 4 ms plus
// 45 µs per GPU instruction. Run therefore has several kernels, each compiled on first use.
// The kernel for up to 2^18 rows computes one row per lane without a loop and rarely
// takes more than 10 ms to compile. The kernel for more rows computes several rows per
// lane, which keeps more loads in flight. A third one, for many rows of columns of one
// and two bytes, loads eight rows with one instruction.
//
// A kernel written in CUDA C++ has holes, which [Generator.Splice] replaces by a
// predicate.
//
// # Dictionaries
//
// Values of a dictionary column are loaded by their codes. If a bool or an integer
// depends on the strings of one dictionary that is much shorter than the column, such as a
// comparison with a literal, [Resolve] runs a kernel that computes it once per dictionary
// value; the program then looks up the result by the code. Run calls Resolve itself; operators with their own kernels call it
// first.
//
// # Functions
//
// Operations of more than a few instructions are functions in the CUDA C++ of this
// folder, which are compiled with the other kernels. The package splits the PTX of
// clang into functions and adds only those that a kernel calls, because the driver has
// to compile them when an expression is first used.
package codegen
