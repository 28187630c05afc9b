// Package address turns addresses of memory that the garbage collector does not
// manage into pointers.
package address
