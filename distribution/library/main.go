// Library is libgpuframe.so of the Python package, with all stores of objects and formats of tables.
package main

import (
	_ "github.com/gpuframe/gpuframe/distribution/connectors" // URLs and tables of all kinds
	_ "github.com/gpuframe/gpuframe/python/libgpuframe"      // the functions that C calls
)

func main() {}
