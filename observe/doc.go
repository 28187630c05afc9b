// Package observe shows what holds device memory and what the GPU does: a profile of
// allocations for `go tool pprof`, a page and JSON for operators, failures and slow
// queries in a log. Package observe/metrics has the same for Prometheus.
//
//	recorder, err := observe.New(observe.Options{
//		Managers:    []*memory.Manager{mgr},
//		SampleBytes: observe.DefaultSampleBytes,
//	})
//	defer recorder.Close()
//	http.Handle("/debug/pprof/gpu_heap", recorder.HeapHandler())
//
// Nothing listens by itself. A program without a Recorder pays nothing; docs/observability.md
// has the costs with one, and says what to do about what it shows.
package observe
