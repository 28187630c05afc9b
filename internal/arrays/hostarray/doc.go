// Package hostarray presents columns of the host device as Arrow arrays, without a
// copy, for operators that compute on the host.
package hostarray
