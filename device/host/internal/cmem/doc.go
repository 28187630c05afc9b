// Package cmem allocates aligned memory for the host device.
//
// With cgo on a Unix system the memory is the C library's, so that C code may
// hold it for as long as it likes. Elsewhere it is Go memory: the collector
// does not move it, and it lives for as long as a pointer to it is kept. Either
// way its contents are undefined at first, and [Free] takes it back.
//
// All C of package host is here.
package cmem
