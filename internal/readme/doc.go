// Package readme holds the program of README.md as code, so that a test compiles and
// runs it.
package readme
