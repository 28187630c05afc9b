package sql_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/testing/clickbench"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
	"github.com/gpuframe/gpuframe/sql"
)

// TestQuestionsOfDevices compares the answers to the questions of ClickBench on every GPU with those on the host.
func TestQuestionsOfDevices(t *testing.T) {
	record := clickbench.Record(1, 0, 200_000)
	defer record.Release()
	devicetest.EachGPU(t, func(t *testing.T, dev *device.Device) {
		host, gpu := hitsOn(t, devicetest.Open(t, "host"), record), hitsOn(t, dev, record)
		for i, question := range clickbench.Questions {
			question = clickbench.WithoutLimit(question)
			want, got := sortedAnswer(t, host, question), sortedAnswer(t, gpu, question)
			require.Equal(t, want, got, "question %d: %s", i, question)
		}
	})
}

// hitsOn returns a session on a device with the table of ClickBench.
func hitsOn(t *testing.T, dev *device.Device, record arrow.Record) *sql.Session {
	engine, err := gpuframe.Managed(devicetest.Manager(t, dev, memory.Options{}))
	require.NoError(t, err)
	session := sql.New(engine)
	t.Cleanup(func() {
		require.NoError(t, session.Close())
		require.NoError(t, engine.Close())
	})
	session.Register("hits", engine.Records(record.Schema(), record))
	return session
}

// sortedAnswer returns the rows of a statement as sorted lines. Floats have nine digits.
func sortedAnswer(t *testing.T, session *sql.Session, text string) (lines []string) {
	query, err := session.Query(t.Context(), text)
	require.NoError(t, err, text)
	frame, err := query.Collect(t.Context())
	require.NoError(t, err, text)
	record, err := frame.Record(t.Context())
	require.NoError(t, err)
	defer record.Release()
	require.NoError(t, frame.Release())
	for row := range int(record.NumRows()) {
		var line strings.Builder
		for _, c := range record.Columns() {
			if floats, ok := c.(*array.Float64); ok && c.IsValid(row) {
				fmt.Fprintf(&line, "%.9g|", floats.Value(row))
			} else {
				line.WriteString(c.ValueStr(row) + "|")
			}
		}
		lines = append(lines, line.String())
	}
	slices.Sort(lines)
	return lines
}
