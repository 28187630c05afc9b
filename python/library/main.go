// Library is libgpuframe.so without stores of objects, but for web servers, and without formats of tables.
package main

import _ "github.com/gpuframe/gpuframe/python/libgpuframe" // the functions that C calls

func main() {}
