package gpuframe_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/gpuframe/gpuframe"
)

// Each query that ends is reported, with its tag, its error, and its times: for logs and alerts.
func ExampleEngine_ObserveQueries() {
	gpu := hostEngine()
	defer gpu.Close()
	stop := gpu.ObserveQueries(func(q gpuframe.EndedQuery) {
		fmt.Println(q.Tag, q.Err) // and q.Duration, q.Waited
	})
	defer stop()
	frame, err := gpuframe.From(gpu, exampleSales()).Collect(context.Background(), gpuframe.Tag("report"))
	if err != nil {
		panic(err)
	}
	defer frame.Release()
	// Output:
	// report <nil>
}

// The page of an operator lists the queries that run, and ends one.
func ExampleEngine_Cancel() {
	gpu := hostEngine()
	defer gpu.Close()
	cancelAll := func(running []gpuframe.RunningQuery) {
		for _, q := range running {
			fmt.Println(q.Tag, gpu.Cancel(q.ID))
		}
	}
	for frame, err := range gpuframe.From(gpu, exampleSales()).Batches(context.Background(), gpuframe.Tag("export"), gpuframe.BatchRows(2)) {
		if err != nil {
			fmt.Println(errors.Is(err, gpuframe.ErrCancelled))
			return
		}
		cancelAll(gpu.Running())
		if err := frame.Release(); err != nil {
			panic(err)
		}
	}
	// Output:
	// export true
	// true
}

// The statistics of the queries that an engine has run, by their tags: how many, and the device memory that they used.
func ExampleEngine_Queries() {
	gpu := hostEngine()
	defer gpu.Close()
	for range 2 {
		frame, err := gpuframe.From(gpu, exampleSales()).Select("price").Collect(context.Background(), gpuframe.Tag("prices"))
		if err != nil {
			panic(err)
		}
		if err := frame.Release(); err != nil {
			panic(err)
		}
	}
	unreleased := func(list []gpuframe.QueryStats) (bytes uint64) {
		for _, stats := range list {
			fmt.Println(stats.Tag, stats.Completed, "completed,", stats.Failed, "failed")
			bytes += stats.InUse
		}
		return bytes
	}(gpu.Queries())
	fmt.Println(unreleased, "bytes in use")
	// Output:
	// prices 2 completed, 0 failed
	// 0 bytes in use
}

// answer runs a query of a request. A busy service answers that the client should come again.
func answer(ctx context.Context, q gpuframe.Query, options ...gpuframe.RunOption) (status int) {
	frame, err := q.Collect(ctx, append(options, gpuframe.NoWait())...)
	switch {
	case errors.Is(err, gpuframe.ErrBusy):
		return http.StatusServiceUnavailable
	case err != nil:
		return http.StatusInternalServerError
	}
	defer frame.Release()
	return http.StatusOK
}

func ExampleNoWait() {
	gpu := hostEngine()
	defer gpu.Close()
	fmt.Println(answer(context.Background(), gpuframe.From(gpu, exampleSales()), gpuframe.Tag("sales")))
	// Output:
	// 200
}

// The rows that a query has read, after each part.
func ExampleProgress() {
	gpu := hostEngine()
	defer gpu.Close()
	frame, err := gpuframe.From(gpu, exampleSales()).
		Collect(context.Background(), gpuframe.BatchRows(2), gpuframe.Progress(func(rows, total int64) { fmt.Println(rows, "of", total) }))
	if err != nil {
		panic(err)
	}
	defer frame.Release()
	// Output:
	// 2 of 6
	// 4 of 6
	// 6 of 6
}

// Without passes of the optimizer a query returns the same rows, and its operations yield more.
func ExampleWithoutPasses() {
	gpu := hostEngine()
	defer gpu.Close()
	q := gpuframe.From(gpu, exampleSales()).Sort("price").Filter(gpuframe.Col("city").Eq("Oslo")).Select("qty")
	rows := func(options ...gpuframe.RunOption) (sum int64) {
		var profile gpuframe.Profile
		frame, err := q.Collect(context.Background(), append(options, gpuframe.Profiled(&profile))...)
		if err != nil {
			panic(err)
		}
		defer frame.Release()
		for _, operation := range profile.Operations() {
			sum += operation.Rows
		}
		return sum
	}
	fmt.Println(rows(), "rows between operations,", rows(gpuframe.WithoutPasses(gpuframe.Passes()...)), "without passes")
	// Output:
	// 15 rows between operations, 18 without passes
}
