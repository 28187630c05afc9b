// Package hostarray shows columns of the host device as Arrow arrays, without
// copying, for operators that compute on the host.
package hostarray
