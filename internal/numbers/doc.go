// Package numbers describes columns of integers, floats and counts of time units, for the operators that compute on their numbers: which types these are,
// where the values lie in memory, and how to read them on the host.
package numbers
