// Package ordertest has a plain model of the order of rows, and arrays to sort.
package ordertest
