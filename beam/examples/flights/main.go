// Flights finds the hours of departure with the longest delays among 200,000 real flights, with
// Apache Beam on Prism, the runner in Beam's Go SDK:
//
//	cd beam && go run ./examples/flights
//
// It writes the flights to Parquet files first, and the pipeline reads these: group by hour in
// parts, shuffle, merge, top 5, write. Any Parquet files with the columns delay and time can
// be given by -flights, and another device by -device.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/apache/beam/sdks/v2/go/pkg/beam"
	_ "github.com/apache/beam/sdks/v2/go/pkg/beam/runners/prism"

	"github.com/gpuframe/gpuframe"
	gpubeam "github.com/gpuframe/gpuframe/beam"
)

// byHour groups the flights by the hour of departure. worst keeps five hours.
const (
	byHour = `{"version": 1, "steps": [
	{"verb": "given", "number": 0},
	{"verb": "group", "inputs": [0],
	 "keys": [{"function": "as", "name": "hour", "arguments": [{"function": "floor", "arguments": [{"function": "column", "name": "time"}]}]}],
	 "aggregates": [
	  {"function": "as", "name": "mean delay", "arguments": [{"function": "mean", "arguments": [{"function": "column", "name": "delay"}]}]},
	  {"function": "as", "name": "flights", "arguments": [{"function": "count_rows"}]}]},
	{"verb": "filter", "inputs": [1], "conditions": [
	 {"function": "ge", "arguments": [{"function": "column", "name": "flights"}, {"function": "literal", "value": 1000}]}]}]}`
	worst = `{"version": 1, "steps": [
	{"verb": "given", "number": 0},
	{"verb": "top", "inputs": [0], "n": 5, "keys": [{"value": {"function": "column", "name": "mean delay"}, "descending": true}]}]}`
)

func main() {
	flights := flag.String("flights", "", "Parquet `files` with the columns delay and time; the default is the flights of examples/data")
	device := flag.String("device", "", "the device of the workers; the default is the first GPU, or the host")
	flag.Parse()
	beam.Init()
	slog.SetDefault(slog.New(slog.NewTextHandler(io.Discard, nil))) // the log of Prism
	if err := run(context.Background(), os.Stdout, *flights, *device); err != nil {
		fmt.Fprintln(os.Stderr, "flights:", err)
		os.Exit(1)
	}
}

// run prints the worst hours.
func run(ctx context.Context, to io.Writer, flights, device string) (err error) {
	folder, err := os.MkdirTemp("", "gpuframe-flights-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	if flights == "" {
		if flights, err = example(ctx, folder); err != nil {
			return err
		}
	}
	p := beam.NewPipeline()
	if err := build(p, gpubeam.Options{Device: device}, flights, filepath.Join(folder, "worst")); err != nil {
		return err
	}
	if _, err := beam.Run(ctx, "prism", p); err != nil {
		return errors.Join(err, gpubeam.Close())
	}
	for _, e := range gpubeam.Engines() {
		fmt.Fprintf(to, "engine on %s: peak %d bytes of device memory, %d in use\n", e.Device, e.Peak, e.InUse)
	}
	return errors.Join(show(ctx, to, filepath.Join(folder, "worst-*.parquet")), gpubeam.Close())
}

// example writes the flights of examples/data to four Parquet files.
func example(ctx context.Context, folder string) (pattern string, err error) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	all := e.IPC("../examples/data/flights-200k.arrow")
	for i := range 4 {
		path := filepath.Join(folder, fmt.Sprintf("flights-%d.parquet", i))
		if _, err := all.Slice(int64(i)*60_000, 60_000).WriteFile(ctx, path, gpuframe.Parquet()); err != nil {
			return "", err
		}
	}
	return filepath.Join(folder, "flights-*.parquet"), nil
}

// build makes the pipeline.
func build(p *beam.Pipeline, options gpubeam.Options, flights, results string) error {
	s := p.Root()
	batches, err := gpubeam.ReadParquet(s, flights)
	if err != nil {
		return err
	}
	hours, err := gpubeam.GroupBy(s, options, byHour, batches)
	if err != nil {
		return err
	}
	top, err := gpubeam.TopN(s, options, worst, hours)
	if err != nil {
		return err
	}
	_, err = gpubeam.WriteParquet(s, results, 1, top)
	return err
}

// show prints the files of the result.
func show(ctx context.Context, to io.Writer, files string) (err error) {
	e, err := gpuframe.Open(gpuframe.Device("host"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	frame, err := e.Parquet(files).Collect(ctx)
	if err != nil {
		return err
	}
	fmt.Fprintln(to, frame)
	return frame.Release()
}
