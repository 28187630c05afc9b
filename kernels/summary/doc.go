// Package summary holds the operators that tell of a column how its values are
// distributed, and which are the largest.
//
//	counts, err := summary.Histogram(ctx, delays, summary.HistogramOptions{Bins: 60, Low: 0, High: 120})
//	defer counts.Release()
//	top, err := summary.TopK(ctx, delays, 10)
//	defer top.Release()
//
// All run on the device that holds the column and enqueue their work without waiting
// for it; results stay on the device, and the caller releases them. On the host
// device they compute before they return, and the results are the same, of floats
// too. All functions may be called from any goroutine.
package summary
