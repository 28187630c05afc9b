// Package hostread reads words at addresses from another library.
//
// An address may be wrong, and a read of unmapped memory ends the process. [Words]
// makes the kernel read, which returns an error instead.
package hostread
