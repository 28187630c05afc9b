// Package observe shows the holders of device memory and the work of the GPU: a profile
// of allocations for `go tool pprof`, failures and slow queries in a log, a page and JSON
// for operators. Package observe/metrics has the same for Prometheus.
//
//	recorder, err := observe.New(observe.Options{
//		Managers:    []*memory.Manager{mgr},
//		SampleBytes: observe.DefaultSampleBytes,
//	})
//	defer recorder.Close()
//	http.Handle("/debug/pprof/gpu_heap", recorder.HeapHandler())
//
// Nothing listens by itself. A program without a Recorder pays nothing. The costs, and
// the remedies for common findings, are in docs/observability.md.
package observe
