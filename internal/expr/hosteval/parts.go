package hosteval

import (
	"context"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"

	"github.com/gpuframe/gpuframe/internal/arrays/hostarray"
	"github.com/gpuframe/gpuframe/internal/expr/exprtree"
)

// partRows is the number of rows that are evaluated at a time. It is a multiple of 64. Some
// intermediate results of 16 bytes for each row fit the second cache of a processor.
const partRows = 1 << 14

// EvaluateParts is [Evaluate] for consecutive parts of the rows, on all processors. It
// returns the arrays of each output, at least one. Intermediate results are those of a few
// parts, not of all rows. The caller releases the arrays.
func EvaluateParts(ctx context.Context, program *exprtree.Program, inputs []arrow.Array, rows int) ([][]arrow.Array, error) {
	parts := max(1, (rows+partRows-1)/partRows)
	if !divisible(program, inputs, rows) {
		parts = 1
	}
	results := make([][]arrow.Array, len(program.Outputs))
	for i := range results {
		results[i] = make([]arrow.Array, parts)
	}
	if parts == 1 {
		arrays, err := Evaluate(ctx, program, inputs, rows)
		for i := range arrays {
			results[i][0] = arrays[i]
		}
		if err != nil {
			return nil, err
		}
		return results, nil
	}
	var next atomic.Int64
	var failed atomic.Bool
	failures := make([]error, parts)
	work := func() {
		for at := int(next.Add(1) - 1); at < parts && !failed.Load(); at = int(next.Add(1) - 1) {
			arrays, err := evaluatePart(ctx, program, inputs, at*partRows, min((at+1)*partRows, rows))
			if err != nil {
				failures[at] = err
				failed.Store(true)
			}
			for i := range arrays {
				results[i][at] = arrays[i]
			}
		}
	}
	var workers sync.WaitGroup
	for range min(parts, runtime.GOMAXPROCS(0)) - 1 {
		workers.Go(work)
	}
	work()
	workers.Wait()
	for _, err := range failures {
		if err != nil { // the first part that fails was begun in any case, so its error is the same in every run
			ReleaseParts(results)
			return nil, err
		}
	}
	return results, nil
}

// divisible reports whether all inputs have the rows, and all outputs are computed and not
// encoded by a dictionary: the dictionaries of several arrays would have to be compared.
func divisible(program *exprtree.Program, inputs []arrow.Array, rows int) bool {
	for _, input := range inputs {
		if input.Len() < rows {
			return false
		}
	}
	return !slices.ContainsFunc(program.Outputs, func(n *exprtree.Node) bool {
		return n.Op == exprtree.Column || n.Type.ID() == arrow.DICTIONARY
	})
}

func evaluatePart(ctx context.Context, program *exprtree.Program, inputs []arrow.Array, begin, end int) ([]arrow.Array, error) {
	parts := make([]arrow.Array, len(inputs))
	for i, input := range inputs {
		parts[i] = array.NewSlice(input, int64(begin), int64(end))
	}
	defer hostarray.Release(parts)
	return evaluate(ctx, program, parts, begin, end-begin)
}

// ReleaseParts releases the result of [EvaluateParts].
func ReleaseParts(results [][]arrow.Array) {
	for _, parts := range results {
		for _, part := range parts {
			if part != nil {
				part.Release()
			}
		}
	}
}
