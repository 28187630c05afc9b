// Package gpubeam runs queries of gpuframe on many hosts with Apache Beam. Beam schedules,
// shuffles and retries; each worker computes on its GPU, or on its host.
//
//	p := beam.NewPipeline()
//	s := p.Root()
//	flights, err := gpubeam.ReadParquet(s, "gs://bucket/flights-*.parquet")
//	byOrigin, err := gpubeam.GroupBy(s, gpubeam.Options{Budget: 8 << 30}, document, flights)
//	files, err := gpubeam.WriteParquet(s, "gs://bucket/by-origin", 4, byOrigin)
//	result, err := beam.Run(ctx, "prism", p)
//	err = gpubeam.Close()
//
// # Elements
//
// The elements are values of type [Batch]: Arrow records, which travel as Arrow IPC streams.
// All batches of a collection have one schema. Transforms emit a batch without rows if a result
// has no row, because the batch carries the schema. A good batch has some 10⁵ to 10⁷ rows:
// each batch is one transfer to the device and one run of the query.
//
// # Queries
//
// A query travels as a document in JSON, as package internal/query/querydata describes it. The step
// with the verb "given" and the number 0 is the input; [Join] has the inputs 0 and 1. The
// Python package writes documents, and they can be written by hand:
//
//	{"version": 1, "steps": [
//	  {"verb": "given", "number": 0},
//	  {"verb": "group", "inputs": [0],
//	   "keys": [{"function": "column", "name": "origin"}],
//	   "aggregates": [{"function": "mean", "arguments": [{"function": "column", "name": "delay"}]}]}]}
//
// [Query] runs a document on each batch separately. The documents of [GroupBy], [Join], [TopN]
// and [Distinct] have exactly one step "group", "join", "top" or "distinct", which is computed
// across all batches. The steps before and after it must be row by row: filter, select, with,
// drop, rename, drop_nulls, fill_null, explode, unpivot, union. Others are an error while the
// pipeline is built.
//
// # Results
//
// Collections have no order, so neither have results. Apart from that the results of GroupBy,
// Join, TopN and Distinct are those of one process, for every division into bundles and every
// retry: sums of floats are equal bit for bit. Aggregates that depend on the order of rows
// (first, last, any_value, mode, list, join_strings) are an error. Of rows with equal keys TopN
// takes those with the least values in the other columns. If the zeros +0 and −0, or several
// NaNs, are one key, it is unspecified which of them the result shows.
//
// # Engines and memory
//
// A process has one engine for each device and budget of its [Options], which all DoFns of the
// process share. It opens in the first Setup, and closes in the last Teardown. The Go SDK of
// Beam (2.77) calls Setup, but its harness for portable runners never calls Teardown: a program
// that runs other work afterwards calls [Close]. A DoFn uses device memory only within a call, one
// call at a time in each engine; between calls the engine has no memory in use. [Engines]
// lists the engines with their memory.
//
// # Errors
//
// Building a pipeline returns errors of documents. An error of a worker is a [*StageError], which
// names the stage, the worker and the partition; Beam transports its text only. A device that is
// lost is opened again, and the batch computed again, up to Options.Attempts. Every other
// failure ends the bundle, and Beam's runner decides: Prism ends the job after the first failed
// bundle, other runners try the bundle again. A transform emits nothing before the
// computation of the element has succeeded, and files get their name when they are
// complete, so a bundle that is tried again does not change the result.
//
// # Runners
//
// Tests run on Prism, the runner in the Go SDK. Flink and Dataflow have not been tried: see
// the README of this module.
package gpubeam
