package join_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"

	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/internal/testing/optest"
	"github.com/gpuframe/gpuframe/kernels"
	"github.com/gpuframe/gpuframe/kernels/join"
)

// someRows returns a record with columns id, at and text.
func someRows(r *rand.Rand, rows int) arrow.Record {
	ids, times, names := array.NewInt32Builder(arrowmemory.DefaultAllocator), array.NewInt64Builder(arrowmemory.DefaultAllocator), array.NewStringBuilder(arrowmemory.DefaultAllocator)
	defer ids.Release()
	defer times.Release()
	defer names.Release()
	for range rows {
		ids.Append(int32(r.IntN(6)))
		times.Append(r.Int64N(20))
		if r.IntN(5) == 0 {
			names.AppendNull()
		} else {
			names.Append(words[r.IntN(len(words))][0])
		}
	}
	return optest.Record([]string{"id", "at", "text"}, []arrow.Array{ids.NewArray(), times.NewArray(), names.NewArray()})
}

func TestPairOperators(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 12))
	left, right := someRows(r, 14), someRows(r, 11)
	defer left.Release()
	defer right.Release()
	for name, run := range map[string]func(ctx context.Context, a, b *buffer.Buffer, o kernels.Options) (*buffer.Buffer, error){
		"inner": func(ctx context.Context, a, b *buffer.Buffer, o kernels.Options) (*buffer.Buffer, error) {
			return join.Tables(ctx, a, b, join.Using("id"), join.Options{Options: o})
		},
		"anti": func(ctx context.Context, a, b *buffer.Buffer, o kernels.Options) (*buffer.Buffer, error) {
			return join.Tables(ctx, a, b, join.Using("text"), join.Options{Options: o, Kind: join.Anti})
		},
		"as of": func(ctx context.Context, a, b *buffer.Buffer, o kernels.Options) (*buffer.Buffer, error) {
			return join.AsOf(ctx, a, b, join.Using("at")[0], join.AsOfOptions{Options: o, By: join.Using("id"), Direction: join.Nearest})
		},
		"range": func(ctx context.Context, a, b *buffer.Buffer, o kernels.Options) (*buffer.Buffer, error) {
			return join.Range(ctx, a, b, join.Between{Low: "at", High: "at", Right: "at", Bounds: join.Closed}, nil, join.Options{Options: o})
		},
	} {
		t.Run(name, func(t *testing.T) {
			optest.RunPair(t, optest.PairSpec{Name: "join: ", Run: run, Left: left, Right: right})
		})
	}
}
