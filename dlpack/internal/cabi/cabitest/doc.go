// Package cabitest plays the other library in tests of package dlpack: it makes
// DLPack structs in C with deleters that count, and calls deleters the way a
// consumer does, from C and from threads that Go has never seen.
package cabitest
