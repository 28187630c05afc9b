package gpuframe_test

import (
	"bytes"
	"context"
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
)

// rendezvous makes requests wait until a number of them wait, again and again.
type rendezvous struct {
	mu    sync.Mutex
	size  int
	count int
	met   chan struct{}
	// meetings is the number of times that all have met.
	meetings int
}

func (r *rendezvous) wait(ctx context.Context) error {
	r.mu.Lock()
	if r.met == nil {
		r.met = make(chan struct{})
	}
	met := r.met
	if r.count++; r.count == r.size {
		r.count, r.met = 0, nil
		r.meetings++
		close(met)
	}
	r.mu.Unlock()
	select {
	case <-met:
	case <-ctx.Done():
	}
	return ctx.Err()
}

// A query on several objects waits for answers of all of them at the same time: for their footers, and for their rows. A query that
// asked in sequence would wait for ever.
func TestObjectsAtATime(t *testing.T) {
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		type row struct {
			Key  int64
			Text string
		}
		const tables = 4
		meeting := &rendezvous{size: tables}
		store := &objecttest.Memory{}
		rows := make([]row, 3000)
		for i := range rows {
			rows[i] = row{int64(i*7919) % 3000, fmt.Sprintf("%064d", i)} // longer than the end that has the footer
		}
		for i := range tables {
			var data bytes.Buffer
			_, err := gpuframe.From(gpu, rows).Write(t.Context(), &data, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: "none"}))
			require.NoError(t, err)
			store.Set(fmt.Sprintf("mem://bucket/%d.parquet", i), data.Bytes())
		}
		store.Before = func(ctx context.Context, operation, _ string, _, _ int64) error {
			if operation != "read" {
				return nil
			}
			return meeting.wait(ctx)
		}
		objects := gpu.Objects(store)
		all := objects.Parquet("mem://bucket/0.parquet")
		for i := 1; i < tables; i++ {
			other := objects.Parquet(fmt.Sprintf("mem://bucket/%d.parquet", i))
			all = all.Join(other.Filter(gpuframe.Col("Text").Ne("")).Select(gpuframe.Col("Key")), gpuframe.Semi, gpuframe.On(gpuframe.Col("Key"), gpuframe.Col("Key")))
		}
		result, err := all.Collect(t.Context())
		require.NoError(t, err)
		require.EqualValues(t, len(rows), result.NumRows())
		require.NoError(t, result.Release())
		require.Equal(t, 2, meeting.meetings)
	})
	await.Ended(t, sources)
}

// A scan whose row groups have ranges of a key waits for the keys of the other side, and requests only row groups that can have them. A
// scan of keys in no order does not wait.
func TestObjectsThatKeysLeaveOut(t *testing.T) {
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		type row struct {
			Key  int64
			Text string
		}
		const number, groups = 8000, 8
		sorted, mixed := make([]row, number), make([]row, number)
		for i := range number {
			sorted[i] = row{int64(i), fmt.Sprintf("%0128d", i)}
			mixed[i] = row{int64(i*7919) % number, sorted[i].Text}
		}
		store := &objecttest.Memory{}
		for name, rows := range map[string][]row{"sorted": sorted, "mixed": mixed, "keys": {{1500, ""}, {1700, ""}}} {
			var data bytes.Buffer
			_, err := gpuframe.From(gpu, rows).Write(t.Context(), &data, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: "none", GroupRows: number / groups}))
			require.NoError(t, err)
			store.Set("mem://bucket/"+name+".parquet", data.Bytes())
		}
		objects := gpu.Objects(store)
		for name, most := range map[string]int{"sorted": 2, "mixed": groups} {
			store.Reset()
			facts := objects.Parquet("mem://bucket/" + name + ".parquet")
			q := facts.Join(objects.Parquet("mem://bucket/keys.parquet").Select(gpuframe.Col("Key")), gpuframe.Semi, gpuframe.On(gpuframe.Col("Key"), gpuframe.Col("Key")))
			result, err := q.Collect(t.Context())
			require.NoError(t, err)
			require.EqualValues(t, 2, result.NumRows())
			require.NoError(t, result.Release())
			length := len(store.Get("mem://bucket/" + name + ".parquet"))
			require.Less(t, store.Bytes.Load(), int64(length*most/groups+128<<10), "%s of %d bytes", name, length)
		}
	})
	await.Ended(t, sources)
}

// Bloom filters of all columns of a condition are requested together: one answer for each row group decides about it.
func TestObjectsThatFiltersLeaveOut(t *testing.T) {
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		type row struct {
			A, B int64
			Text string
		}
		const number, groups = 90_000, 2
		rows := make([]row, number)
		for i := range rows {
			rows[i] = row{int64(i*7919) % number * 2, int64(i*104729) % number * 2, fmt.Sprintf("%0120d", i)}
		}
		rows[1].A, rows[number-1].A = 100, 100 // in both groups
		store := &objecttest.Memory{}
		var data bytes.Buffer
		_, err := gpuframe.From(gpu, rows).Write(t.Context(), &data, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: "none", GroupRows: number / groups, Bloom: []string{"A", "B"}}))
		require.NoError(t, err)
		store.Set("mem://bucket/a.parquet", data.Bytes())
		var p gpuframe.Profile
		q := gpu.Objects(store).Parquet("mem://bucket/a.parquet").Filter(gpuframe.Col("A").Eq(100), gpuframe.Col("B").Eq(1001))
		result, err := q.Collect(t.Context(), gpuframe.Profiled(&p))
		require.NoError(t, err)
		require.Zero(t, result.NumRows())
		require.NoError(t, result.Release())
		require.Contains(t, p.String(), "2 of 2 row groups skipped (2 by Bloom filters)")
		require.EqualValues(t, 1+groups, store.Requests.Load(), "the footer, and filters of each row group")
	})
	await.Ended(t, sources)
}

// sources begins the names of functions that read files.
const sources = "github.com/gpuframe/gpuframe/internal/io/source."
