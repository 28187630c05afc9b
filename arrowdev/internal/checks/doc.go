// Package checks validates the contents of Arrow buffers from another library, so that
// later accesses by them stay in bounds: offsets, views, run ends, type ids and
// dictionary indices.
//
// A [Batch] collects checks and runs them all on one stream with one wait. On a GPU
// each is a kernel. Its PTX is part of the program and is compiled on first use. The
// results of all checks come in one small download; nothing else leaves the device. On
// the host the processor checks. Both return the same result: the first wrong element
// of each check.
//
// The rules are those of Arrow's columnar format. Offsets and list views must be valid
// in null slots too; binary views and dictionary indices of null slots are not checked.
// Memory may begin at any address: unaligned memory is read byte by byte, which is slow
// but correct.
package checks
