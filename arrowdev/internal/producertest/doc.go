// Package producertest is another library that exports arrays, for tests of package
// arrowdev: its structs are in C memory, can be set to any values, and have a counting
// release in C.
package producertest
