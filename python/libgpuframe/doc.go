// Package libgpuframe is the shared library behind the Python package gpuframe. Two programs contain it: ../library, and that of
// the module distribution, which has more stores and formats of tables.
//
//	go build -buildmode=c-shared -o build/libgpuframe.so ./python/library
//
// # Calls
//
// A handle, a number with a generation, identifies each Go object. A released or invented
// handle is refused and never dereferenced. Every function returns NULL, or an error as
// JSON that the caller passes to gpuframe_free. Errors therefore belong to their call,
// and any thread may call any function at any time. Structured results are also JSON and
// are freed in the same way.
//
// # Queries
//
// A query arrives as a document in JSON: see package querydata. gpuframe_query starts an
// action on it, on a goroutine, and returns the handle of a run. gpuframe_run_wait waits
// a few milliseconds for its next table, so that Python can handle signals in between. The
// release of the run cancels it. Queries use the memory of the manager that is named, which
// is a device's or a budget's.
//
// # The interpreter's lock
//
// Python calls these functions through ctypes.CDLL, which releases the lock during the
// call. That is necessary: a call may release memory that another Python object owns, on
// another thread, and that object's deleter takes the lock; and a call may wait for work
// that ends with such a release.
//
// Python calls the functions of native.c with the lock held. They release it before they
// enter Go, except to export a column when the export cannot wait. They look up Python's
// functions, all of the stable ABI, in the process that loaded them, so the library works
// with every version of Python.
package libgpuframe

import (
	_ "github.com/gpuframe/gpuframe/compression/brotli"    // Parquet files of it
	_ "github.com/gpuframe/gpuframe/internal/io/lz4blocks" // files of tables that arrow-go reads
	_ "github.com/gpuframe/gpuframe/objectstore/https"     // queries on URLs of web servers
)
