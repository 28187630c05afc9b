// Package hostread reads words at addresses that another library gave.
//
// An address may be wrong, and a read of memory that is not mapped ends the
// process. [Words] has the kernel read, which returns an error instead.
package hostread
