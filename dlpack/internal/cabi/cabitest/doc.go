// Package cabitest simulates the other library in tests of package dlpack: it makes
// DLPack structs in C with deleters that count, and calls deleters as a consumer
// does, from C and from threads unknown to Go.
package cabitest
