// Package producertest plays another library that hands arrays out, in tests of
// package arrowdev: its structs are in C memory, can be set to anything, and have
// a release of C's that counts.
package producertest
