//go:build cgo && unix && !(386 || arm || mips || mipsle)

package arrowdev

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/arrowdev/internal/cabi"
	"github.com/gpuframe/gpuframe/arrowdev/internal/checks"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/internal/arrays/layout"
	"github.com/gpuframe/gpuframe/internal/testing/arraytest"
	"github.com/gpuframe/gpuframe/memory"
)

var update = flag.Bool("update", false, "write testdata/support.md again")

// supportRow is the result for the types of one name.
type supportRow struct {
	name    string
	formats []string
	// cells are the results of supportWays: yes, or the error.
	cells  []string
	checks string
}

// supportWays are the ways in which a column is sent. Each is tried with a slice of
// the column, with nulls if the type can have them.
var supportWays = []struct {
	title string
	try   func(t *testing.T, m *memory.Manager, c *column.Column, want arrow.Array) error
}{
	{"`ExportColumn`", tryExport},
	{"`ImportColumn` of our own", tryOwn},
	{"of another library's", tryForeign},
	{"`ImportArray`", tryPlain},
	{"`ExportRecord`", tryRecord},
}

// The table of docs/interchange.md is the result of this test: each type is sent
// every way on every device. After a change run the test with -update and copy
// testdata/support.md there.
func TestSupportTable(t *testing.T) {
	eachDevice(t, func(t *testing.T, m *memory.Manager) {
		var rows []*supportRow
		for number, dataType := range arraytest.AllTypes() {
			row := rowOf(&rows, dataType)
			g := arraytest.NewGenerator(uint64(number))
			g.Sliced = true
			whole := recordOf(g.Array(dataType, 30))
			table := upload(t, m, whole)
			c, err := table.Column(0).Slice(3, 20)
			require.NoError(t, err)
			require.NoError(t, table.Release())
			row.add(t, c)
			want := array.NewSlice(whole.Column(0), 3, 23)
			for i, way := range supportWays {
				if err := way.try(t, m, c, want); err != nil {
					row.cells[i] = err.Error()
				}
			}
			want.Release()
			require.NoError(t, c.Release())
			requireNothingHeld(t, m)
		}
		compareTable(t, rows)
	})
}

// rowOf finds the row of a type, or adds one.
func rowOf(rows *[]*supportRow, of arrow.DataType) *supportRow {
	name := of.Name()
	if of.ID() == arrow.EXTENSION {
		name = "extension"
	}
	for _, row := range *rows {
		if row.name == name {
			return row
		}
	}
	row := &supportRow{name: name, cells: make([]string, len(supportWays))}
	for i := range row.cells {
		row.cells[i] = "yes"
	}
	*rows = append(*rows, row)
	return row
}

// add records a type's format string and the checks of its contents.
func (r *supportRow) add(t *testing.T, c *column.Column) {
	t.Helper()
	a, err := ExportColumn(c, arrow.Field{})
	require.NoError(t, err)
	format := fmt.Sprintf("`%s`", cText((*cabi.Schema)(a.Schema()).Format))
	require.NoError(t, a.Release())
	if !slices.Contains(r.formats, format) {
		r.formats = append(r.formats, format)
	}
	l, err := layoutOf(c.Type())
	require.NoError(t, err)
	if r.checks = contentsOf(l.Kind); r.name == "extension" {
		r.checks = "those of the storage type"
	}
	requireChecked(t, c, l.Kind)
}

// contentsOf describes the checks that contentChecks.add makes for a kind.
func contentsOf(k layout.Kind) string {
	switch k {
	case layout.Binary:
		return "offsets are not negative and ascend"
	case layout.List:
		return "offsets ascend and lie in the child"
	case layout.ListView:
		return "every view lies in the child"
	case layout.View:
		return "every view that is not null lies in its data buffer"
	case layout.SparseUnion:
		return "type ids are the type's"
	case layout.DenseUnion:
		return "type ids are the type's, offsets lie in the child"
	case layout.Dictionary:
		return "indices that are not null lie in the dictionary"
	case layout.RunEnds:
		return "run ends ascend and cover the array"
	}
	return "nothing to check"
}

// requireChecked checks that contentsOf is right about whether checks exist.
// TestMalformedContents covers that they detect errors.
func requireChecked(t *testing.T, c *column.Column, k layout.Kind) {
	t.Helper()
	data := c.Data()
	n := &node{parser: &parser{}, length: data.Length, offset: data.Offset, claims: make([]claim, len(data.Buffers))}
	n.layout.Layout, _ = layoutOf(data.Type)
	for i, region := range data.Buffers {
		n.claims[i].region = region
	}
	for _, child := range data.Children {
		n.children = append(n.children, &node{parser: n.parser, length: child.Len(), claims: make([]claim, 2)})
		if len(child.Data().Buffers) > 1 {
			n.children[len(n.children)-1].claims[1].region = child.Data().Buffers[1]
		}
	}
	if data.Dictionary != nil {
		n.dictionary = &node{parser: n.parser, length: data.Dictionary.Len()}
	}
	var manager *memory.Manager
	for block := range c.Blocks {
		manager = block.Manager()
	}
	if manager == nil {
		require.Equal(t, "nothing to check", contentsOf(k))
		return
	}
	l := contentChecks{batch: checks.NewBatch(manager, manager.Stream())}
	require.NoError(t, l.add(n))
	require.Equal(t, contentsOf(k) != "nothing to check", l.batch.Len() > 0, "%v", c.Type())
}

// cText reads a C string.
func cText(at uintptr) string {
	var text []byte
	for ; *(*byte)(pointerAt(at)) != 0; at++ {
		text = append(text, *(*byte)(pointerAt(at)))
	}
	return string(text)
}

func compareTable(t *testing.T, rows []*supportRow) {
	t.Helper()
	var text strings.Builder
	text.WriteString("| Arrow type | format |")
	for _, way := range supportWays {
		fmt.Fprintf(&text, " %s |", way.title)
	}
	fmt.Fprintf(&text, " contents checked |\n|%s\n", strings.Repeat(" --- |", len(supportWays)+3))
	for _, row := range rows {
		fmt.Fprintf(&text, "| %s | %s |", row.name, strings.Join(row.formats, ", "))
		for _, cell := range row.cells {
			fmt.Fprintf(&text, " %s |", strings.ReplaceAll(cell, "|", "\\|"))
		}
		fmt.Fprintf(&text, " %s |\n", row.checks)
	}
	path := filepath.Join("testdata", "support.md")
	if *update {
		require.NoError(t, os.MkdirAll("testdata", 0o755))
		require.NoError(t, os.WriteFile(path, []byte(text.String()), 0o644))
	}
	want, err := os.ReadFile(path)
	require.NoError(t, err, "make it by -update")
	require.Equal(t, string(want), text.String(), "the table in docs/interchange.md is out of date: run with -update")
}
