// Package numbers has the types of integers, floats and counts of time units for the
// operators that compute on their numbers, and reads such columns on the host.
package numbers
