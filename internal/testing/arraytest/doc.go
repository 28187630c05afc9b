// Package arraytest makes Arrow arrays of any type for tests.
package arraytest
