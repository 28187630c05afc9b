// Package metrics gives the figures of an observe.Recorder to Prometheus.
//
//	prometheus.MustRegister(metrics.NewCollector(recorder))
//
// Names have the prefix gpuframe, and units are bytes and seconds. The file dashboard.json
// next to this package is a dashboard for Grafana.
package metrics
