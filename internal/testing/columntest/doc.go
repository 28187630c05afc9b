// Package columntest has arrays and tables for the tests of operators, and moves arrays to
// columns and back.
package columntest
