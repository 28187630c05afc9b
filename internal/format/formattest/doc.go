// Package formattest has the types that tests of the Arrow C data interface go
// through: one of every kind that arrow-go knows, and random ones that nest them.
package formattest
