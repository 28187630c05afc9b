// Package cmem allocates aligned memory for the host device.
//
// With cgo on a Unix system the memory is the C library's, so that C code may hold it
// without limit. Elsewhere it is Go memory: the collector does not move it, and it
// lives while a pointer to it exists. In both cases its contents are undefined at
// first, and [Free] frees it.
//
// All C code of package host is here.
package cmem
