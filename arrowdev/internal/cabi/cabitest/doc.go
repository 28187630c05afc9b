// Package cabitest is a consumer for tests of package cabi and its users: it moves and
// releases structs as another library does, from C and from threads that Go did not
// create.
package cabitest
