// Package cabitest plays a consumer in tests of package cabi and of what builds on
// it: it moves and releases structs the way another library does, from C and from
// threads that Go has never seen.
package cabitest
