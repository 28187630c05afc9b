package iceberg_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
)

func openEngine(t testing.TB) *gpuframe.Engine {
	engine, err := gpuframe.Open(gpuframe.Device("host"))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, engine.Close()) })
	return engine
}

// linesOf returns the rows of a query as lines of JSON, in order of the lines.
func linesOf(ctx context.Context, q gpuframe.Query) ([]string, error) {
	var lines []string
	for frame, err := range q.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		record, err := frame.Record(ctx)
		if err = errors.Join(err, frame.Release()); err != nil {
			return nil, err
		}
		var text bytes.Buffer
		err = array.RecordToJSON(record, &text)
		record.Release()
		if err != nil {
			return nil, err
		}
		for line := range strings.Lines(text.String()) {
			lines = append(lines, strings.TrimSpace(line))
		}
	}
	slices.Sort(lines)
	return lines, nil
}

func rowsOf(t testing.TB, q gpuframe.Query) []string {
	t.Helper()
	lines, err := linesOf(t.Context(), q)
	require.NoError(t, err)
	return lines
}

func jsonText(value any) string {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func jsonList(rows []string) string { return "[" + strings.Join(rows, ",") + "]" }
