// Package address converts addresses of memory outside the Go heap to pointers.
package address
