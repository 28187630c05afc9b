// Package readme holds the program of README.md as code, so that it is compiled and
// run by a test.
package readme
