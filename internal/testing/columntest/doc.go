// Package columntest has arrays for the tests of operators, and moves them to columns and
// back.
package columntest
