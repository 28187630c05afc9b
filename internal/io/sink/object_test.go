package sink_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"io/fs"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/io/sink"
	"github.com/gpuframe/gpuframe/internal/testing/objecttest"
	"github.com/gpuframe/gpuframe/internal/testing/property"
	"github.com/gpuframe/gpuframe/objectstore"
)

// An object appears with everything that was written, or not at all: a failure of any request leaves no part of it, and an
// older object as it was.
func TestObjects(t *testing.T) {
	defer sink.SetPartBytes(1000)()
	random := property.Random(t)
	for _, length := range []int{0, 1, 999, 1000, 1001, 9876, 20000} {
		contents := make([]byte, length)
		for i := range contents {
			contents[i] = byte(random.Uint32())
		}
		for step, passed := int64(0), false; step == 0 || !passed; step++ {
			var store objecttest.Memory
			store.Set("mem://b/a", []byte("before"))
			var calls atomic.Int64
			store.Before = func(_ context.Context, operation, _ string, _, _ int64) error {
				if operation != "abort" && calls.Add(1) == step {
					return fs.ErrPermission
				}
				return nil
			}
			err := sink.WriteObject(t.Context(), &store, "mem://b/a", func(w io.Writer) error {
				for left := contents; len(left) > 0; {
					n := 1 + random.IntN(min(len(left), 3000))
					if _, err := w.Write(left[:n]); err != nil {
						return err
					}
					left = left[n:]
				}
				return nil
			})
			assert.Zero(t, store.Pending(), "no parts are left")
			assert.Equal(t, []string{"mem://b/a"}, store.Names())
			if passed = err == nil; passed {
				assert.True(t, bytes.Equal(contents, store.Get("mem://b/a")))
				continue
			}
			require.ErrorIs(t, err, fs.ErrPermission)
			assert.Equal(t, "before", string(store.Get("mem://b/a")))
		}
	}
}

// A cancelled write has the kind and the cause in its error, also if a part fails. The removal of the parts has a limit.
func TestCancelledObjects(t *testing.T) {
	defer sink.SetPartBytes(10)()
	for _, failing := range []bool{false, true} {
		ctx, stop := context.WithCancelCause(t.Context())
		cause := errors.New("the user left")
		var store objecttest.Memory
		limited := false
		store.Before = func(ctx context.Context, operation, _ string, _, _ int64) error {
			switch {
			case operation == "abort":
				_, limited = ctx.Deadline()
			case operation == "part" && failing:
				return fs.ErrPermission
			case operation == "part":
				stop(cause)
			}
			return nil
		}
		err := sink.WriteObject(ctx, &store, "mem://b/a", func(w io.Writer) error {
			_, err := w.Write(make([]byte, 15))
			return err
		})
		if failing {
			require.ErrorIs(t, err, fs.ErrPermission)
			require.NotErrorIs(t, err, context.Canceled)
		} else {
			require.ErrorIs(t, err, context.Canceled)
			require.ErrorIs(t, err, cause)
		}
		assert.True(t, limited)
		assert.Empty(t, store.Names())
		stop(nil)
	}
}

// A query that fails or is cancelled leaves no object.
func TestObjectsOfFailedQueries(t *testing.T) {
	defer sink.SetPartBytes(10)()
	var store objecttest.Memory
	ctx, stop := context.WithCancel(t.Context())
	failure := errors.New("the query failed")
	err := sink.WriteObject(ctx, &store, "mem://b/a", func(w io.Writer) error {
		_, err := w.Write(make([]byte, 100))
		stop()
		return errors.Join(err, failure)
	})
	require.ErrorIs(t, err, failure)
	assert.Zero(t, store.Pending())
	assert.Empty(t, store.Names())
	_, err = sink.ToPath(t.Context(), "s3://bucket/a.parquet", sink.Parquet(sink.ParquetOptions{}), nil)
	require.ErrorIs(t, err, objectstore.ErrScheme)
	assert.ErrorContains(t, err, "objectstore/s3")
}
