package source_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/objectstore"
)

// mostAtATime is the number of requests that a query sends at a time.
const mostAtATime = 64

// waitForOthers makes requests for ranges of objects wait until mostAtATime have begun.
func waitForOthers(store *objecttest.Memory) {
	var begun atomic.Int64
	all := make(chan struct{})
	store.Before = func(ctx context.Context, operation, _ string, _, _ int64) error {
		if operation == "read" && begun.Add(1) == mostAtATime {
			close(all)
		}
		select {
		case <-all:
		case <-ctx.Done():
		}
		return ctx.Err()
	}
}

// manySources returns sources of some files each.
func manySources(t *testing.T, store *objecttest.Memory, number, files int) (list []source.Source) {
	data := parquetOf(t, 10, numbered(0, 10))
	for i := range number {
		for file := range files {
			store.Set(fmt.Sprintf("%s%d/%d.parquet", bucket, i, file), data)
		}
		list = append(list, objectOf(t, store, fmt.Sprintf("%s%d/", bucket, i)))
	}
	return list
}

// The footers of many sources are requested at the same time, up to the limit of one query.
func TestDescribeAtATime(t *testing.T) {
	for _, files := range []int{1, 3} {
		store := &objecttest.Memory{}
		list := manySources(t, store, 2*mostAtATime, files)
		waitForOthers(store)
		described := source.DescribeRemote(t.Context(), list)
		require.Len(t, described, len(list))
		for _, d := range described {
			require.NoError(t, d.Err)
			require.True(t, d.Exact)
			require.EqualValues(t, 10*files, d.Rows)
		}
		require.EqualValues(t, len(list)*files, store.Requests.Load())
		require.EqualValues(t, mostAtATime, store.MostFlying.Load())
	}
}

// Sources that a query opens at the same time share the limit.
func TestOpenAtATime(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		store := &objecttest.Memory{}
		list := manySources(t, store, 4, 40)
		for _, s := range list {
			_, err := s.Schema(t.Context())
			require.NoError(t, err)
		}
		store.Reset()
		waitForOthers(store)
		together := source.NewReadahead(m)
		var opening sync.WaitGroup
		for _, s := range list {
			opening.Go(func() {
				reader, err := s.Open(t.Context(), m, source.Request{Columns: []string{"n"}, Readahead: together})
				if assert.NoError(t, err) {
					assert.NoError(t, reader.Close())
				}
			})
		}
		opening.Wait()
		require.EqualValues(t, mostAtATime, store.MostFlying.Load())
	})
}

// A source of a store that does not answer is tried once, and the others are described.
func TestDescribeWithoutAnAnswer(t *testing.T) {
	const attempts = 3
	store := &objecttest.Memory{}
	_ = manySources(t, store, 3, 1)
	quick := objectstore.WithRetry(store, objectstore.Retry{Attempts: attempts, Pause: time.Nanosecond})
	var list []source.Source
	for i := range 3 {
		list = append(list, objectOf(t, quick, fmt.Sprintf("%s%d/", bucket, i)))
	}
	store.Reset()
	store.Before = func(_ context.Context, operation, name string, _, _ int64) error {
		if operation == "read" && name == bucket+"1/0.parquet" {
			return objectstore.ErrUnavailable
		}
		return nil
	}
	described := source.DescribeRemote(t.Context(), list)
	require.NoError(t, described[list[0]].Err)
	require.ErrorIs(t, described[list[1]].Err, objectstore.ErrUnavailable)
	require.NoError(t, described[list[2]].Err)
	require.EqualValues(t, 2+attempts, store.Requests.Load())
}
