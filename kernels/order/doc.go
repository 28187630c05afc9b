// Package order finds the first rows of a column in the order of their values.
//
//	top, err := order.TopK(ctx, delays, 10) // the ten largest and the rows they are in
//	defer top.Release()
//
// The operators run on the device that holds the column. On a GPU they enqueue their
// work and return without waiting for it; results stay on the device. On the host
// device they compute before they return, with the same results. The caller releases
// the results. All functions may be called from any goroutine.
package order
