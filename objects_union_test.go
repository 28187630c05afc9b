package gpuframe_test

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/await"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/objectstore"
)

// objectRows is a row of the tables of unionOfObjects.
type objectRow struct {
	Key  int64
	Text string
}

// objectRows is the number of rows of an object: more than the last 64 KiB, which have the footer.
const objectRows = 3000

// unionOfObjects returns the union of some objects of a store, which have the same rows.
func unionOfObjects(t *testing.T, gpu *gpuframe.Engine, store *objecttest.Memory, tables int) gpuframe.Query {
	rows := make([]objectRow, objectRows)
	for i := range rows {
		rows[i] = objectRow{int64(i), fmt.Sprintf("%064d", i)}
	}
	var data bytes.Buffer
	_, err := gpuframe.From(gpu, rows).Write(t.Context(), &data, gpuframe.ParquetWith(gpuframe.ParquetOptions{Compression: "none"}))
	require.NoError(t, err)
	var list []gpuframe.Query
	for i := range tables {
		store.Set(objectName(i), data.Bytes())
		list = append(list, gpu.Objects(store).Parquet(objectName(i)))
	}
	store.Reset()
	return list[0].Union(list[1:]...)
}

func objectName(i int) string { return fmt.Sprintf("mem://bucket/%03d.parquet", i) }

// A union below a limit requests rows of the object that it reads and of the next one, not of all.
func TestObjectsBelowALimit(t *testing.T) {
	const tables = 12
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		store := &objecttest.Memory{}
		all := unionOfObjects(t, gpu, store, tables)
		_, err := all.Schema(t.Context()) // reads the footers
		require.NoError(t, err)
		require.EqualValues(t, tables, store.Requests.Load())
		for name, c := range map[string]struct {
			query    gpuframe.Query
			requests int64
		}{
			"a limit of the scans":      {all.Head(5), 1},
			"a limit behind conditions": {all.Filter(gpuframe.Col("Text").Contains("7")).Head(5), 2},
			"rows of three objects":     {all.Filter(gpuframe.Col("Text").Contains("0")).Head(2*objectRows + 1), 4},
			"all rows":                  {all.GroupBy().Agg(gpuframe.Col("Text").Max()).Head(1), tables},
		} {
			store.Reset()
			result, err := c.query.Collect(t.Context())
			require.NoError(t, err, name)
			require.NoError(t, result.Release())
			requests := store.Requests.Load()
			require.LessOrEqual(t, requests, c.requests, name)
			require.Positive(t, requests, name)
		}
	})
	await.Ended(t, sources)
}

// The rows of a union come in the order of its inputs, also if some of them are read by another part of the query.
func TestObjectsOfAUnionThatOthersRead(t *testing.T) {
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		store := &objecttest.Memory{}
		_ = unionOfObjects(t, gpu, store, 4)
		objectQuery := func(i int) gpuframe.Query {
			return gpu.Objects(store).Parquet(objectName(i)).Filter(gpuframe.Col("Key").Lt(2)).With(gpuframe.Lit(int64(i)).As("Object"))
		}
		last := objectQuery(3)
		all := objectQuery(0).Union(objectQuery(1), objectQuery(2), last).Select(gpuframe.Col("Object"), gpuframe.Col("Key"))
		require.Equal(t, []string{"0 0", "0 1", "1 0", "1 1", "2 0", "2 1", "3 0", "3 1"}, collect(t, all))
		both := all.Join(last.Select(gpuframe.Col("Key")), gpuframe.Semi, gpuframe.On(gpuframe.Col("Key"), gpuframe.Col("Key")))
		require.Len(t, collect(t, both), 8)
	})
	await.Ended(t, sources)
}

// A query on several objects of which one fails ends with that error, and with all requests.
func TestObjectsOfWhichOneFails(t *testing.T) {
	const tables = 4
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		for _, failing := range []int{0, 1, tables - 1} {
			store := &objecttest.Memory{}
			all := unionOfObjects(t, gpu, store, tables)
			before := gpu.Manager().Stats().InUse
			broken := fmt.Errorf("broken")
			store.Before = func(_ context.Context, operation, name string, _, offset int64) error {
				if operation == "read" && name == objectName(failing) && offset < 1000 {
					return broken
				}
				return nil
			}
			_, err := all.GroupBy().Agg(gpuframe.Col("Text").Max()).Collect(t.Context())
			require.ErrorIs(t, err, broken)
			require.ErrorContains(t, err, objectName(failing))
			require.Zero(t, store.Flying(), "no request outlives the query")
			require.LessOrEqual(t, store.Requests.Load(), int64(2*tables))
			require.Equal(t, before, gpu.Manager().Stats().InUse)
		}
	})
	await.Ended(t, sources)
}

// A deadline ends a query on objects that do not answer: at footers, and at rows.
func TestObjectsThatDoNotAnswer(t *testing.T) {
	const tables = 4
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		for name, last := range map[string]bool{"footers": true, "rows": false} {
			store := &objecttest.Memory{}
			all := unionOfObjects(t, gpu, store, tables)
			before := gpu.Manager().Stats().InUse
			ctx, stop := context.WithCancelCause(t.Context())
			store.Before = func(ctx context.Context, operation, _ string, bytes, offset int64) error {
				if operation != "read" || (offset > 1000) != last {
					return nil
				}
				stop(context.DeadlineExceeded) // as soon as a request waits
				<-ctx.Done()
				return ctx.Err()
			}
			_, err := all.GroupBy().Agg(gpuframe.Col("Text").Max()).Collect(ctx)
			require.ErrorIs(t, err, context.DeadlineExceeded, name)
			require.Zero(t, store.Flying(), name)
			require.Equal(t, before, gpu.Manager().Stats().InUse, name)
		}
	})
	await.Ended(t, sources)
}

// A union of which all rows are read waits for the rows of its objects at the same time.
func TestObjectsOfAUnionAtATime(t *testing.T) {
	const tables = 4
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		store, meeting := &objecttest.Memory{}, &rendezvous{size: tables}
		all := unionOfObjects(t, gpu, store, tables)
		store.Before = func(ctx context.Context, operation, _ string, _, _ int64) error {
			if operation != "read" {
				return nil
			}
			return meeting.wait(ctx)
		}
		result, err := all.GroupBy().Agg(gpuframe.Col("Text").Max()).Collect(t.Context())
		require.NoError(t, err)
		require.NoError(t, result.Release())
		require.Equal(t, 2, meeting.meetings)
	})
	await.Ended(t, sources)
}

// Each object of a store that does not answer is tried once, and the error names all of them.
func TestObjectsOfAnUnavailableStore(t *testing.T) {
	const tables, attempts = 4, 3
	eachEngine(t, func(t *testing.T, gpu *gpuframe.Engine) {
		store := &objecttest.Memory{}
		_ = unionOfObjects(t, gpu, store, tables)
		objects := gpu.Objects(objectstore.WithRetry(store, objectstore.Retry{Attempts: attempts, Pause: time.Nanosecond}))
		all := objects.Parquet(objectName(0))
		for i := 1; i < tables; i++ {
			all = all.Union(objects.Parquet(objectName(i)))
		}
		store.Reset()
		store.Before = func(context.Context, string, string, int64, int64) error { return objectstore.ErrUnavailable }
		_, err := all.Collect(t.Context())
		require.ErrorIs(t, err, objectstore.ErrUnavailable)
		var problems *gpuframe.QueryError
		require.ErrorAs(t, err, &problems)
		require.Len(t, problems.Problems, tables)
		require.EqualValues(t, tables*attempts, store.Requests.Load())
		require.Zero(t, store.Others.Load())
	})
	await.Ended(t, sources)
}
