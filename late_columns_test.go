package gpuframe_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
)

type wideRow struct {
	Key   *int32   `gpuframe:"key"`
	Group int64    `gpuframe:"group"`
	Text  string   `gpuframe:"text"`
	Other *string  `gpuframe:"other"`
	Price *float64 `gpuframe:"price"`
	Done  bool     `gpuframe:"done"`
	Long  int64    `gpuframe:"long"`
}

func wideRows(random *rand.Rand, first, n int) []wideRow {
	rows := make([]wideRow, n)
	for i := range rows {
		rows[i] = wideRow{Group: int64(i / 200), Text: fmt.Sprintf("text %d of row %d", random.IntN(40), first+i), Done: random.IntN(3) == 0, Long: int64(first + i)}
		if random.IntN(10) > 0 {
			key, price, other := int32(random.IntN(300)), random.Float64(), strings.Repeat("ä", random.IntN(9))
			rows[i].Key, rows[i].Price, rows[i].Other = &key, &price, &other
		}
	}
	return rows
}

// TestLateColumns tests that the first rows of a sort do not depend on when their other columns are read: of tables, of files
// with and without page indices, with conditions that leave out row groups and pages, and of few rows for each group.
func TestLateColumns(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 6))
	eachEngine(t, func(t *testing.T, e *gpuframe.Engine) {
		folder := t.TempDir()
		var frames []*gpuframe.Frame
		for i, n := range []int{1100, 1, 1300} {
			frame, err := gpuframe.From(e, wideRows(random, 10_000*i, n)).Collect(t.Context())
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, frame.Release()) })
			frames = append(frames, frame)
			options := gpuframe.ParquetOptions{GroupRows: 300, PageRows: 64}
			_, err = frame.Query().WriteFile(t.Context(), filepath.Join(folder, fmt.Sprintf("%d.parquet", i)), gpuframe.ParquetWith(options))
			require.NoError(t, err)
		}
		key, group, text := gpuframe.Col("key"), gpuframe.Col("group"), gpuframe.Col("text")
		sources := map[string]gpuframe.Query{
			"tables": e.Table(frames[0].Table(), frames[1].Table(), frames[2].Table()),
			"file":   e.Parquet(filepath.Join(folder, "2.parquet")),
			"files":  e.Parquet(filepath.Join(folder, "*.parquet")),
		}
		for name, rows := range sources {
			for which, c := range map[string]struct {
				query           gpuframe.Query
				isLate, ofFiles bool
			}{
				"top":        {query: rows.Sort(key.Desc(), text).Head(4), ofFiles: true},
				"ties":       {query: rows.Filter(gpuframe.Col("done")).Sort(key).Head(3), isLate: true},
				"pages":      {query: rows.Filter(group.Eq(3)).Filter(text.Contains("1")).Sort(gpuframe.Col("price")).Head(4), isLate: true},
				"nulls":      {query: rows.Filter(text.Contains("7")).Sort(gpuframe.Col("other").Desc().NullsFirst(), key).Head(4), isLate: true},
				"none":       {query: rows.Filter(group.Gt(1000)).Sort(key).Head(4)},
				"computed":   {query: rows.Filter(gpuframe.Col("done")).With(key.Mul(2).Sub(gpuframe.Col("long")).As("both"), text.Upper().As("upper")).Sort(gpuframe.Col("both")).Head(3), isLate: true},
				"offset":     {query: rows.Filter(key.Gt(100)).Sort(text).Slice(1, 3).Select(text, gpuframe.Col("long"), gpuframe.Col("other")), isLate: true},
				"many":       {query: rows.Filter(key.Gt(10)).Sort(text).Head(1000)},
				"few others": {query: rows.Filter(key.Gt(10)).Sort(text).Head(4).Select(key, text)},
			} {
				without, err := c.query.Without(t.Context(), "late columns")
				require.NoError(t, err)
				require.Equal(t, lines(t, without), lines(t, c.query), "%s, %s", name, which)
				planned, err := c.query.Without(t.Context())
				require.NoError(t, err)
				isFile := strings.HasPrefix(name, "file")
				if c.isLate || c.ofFiles && isFile {
					require.Contains(t, planned.ExplainPlan(), "fetch ", "%s, %s", name, which)
				} else if which != "none" {
					require.NotContains(t, planned.ExplainPlan(), "fetch ", "%s, %s", name, which)
				}
			}
		}
	})
}

// faultyFiles are files of a folder of which one access fails: the opening of a file, or a read.
type faultyFiles struct {
	fs.FS
	accesses, fault atomic.Int64
}

var errFault = errors.New("a fault of the test")

func (f *faultyFiles) access() error {
	if f.accesses.Add(1) == f.fault.Load() {
		return errFault
	}
	return nil
}

func (f *faultyFiles) Open(name string) (fs.File, error) {
	opened, err := f.FS.Open(name)
	if err != nil {
		return nil, err
	}
	file, ok := opened.(*os.File)
	if err := f.access(); err != nil && ok {
		return nil, errors.Join(err, opened.Close())
	}
	return &faultyFile{file, f}, nil
}

type faultyFile struct {
	*os.File
	files *faultyFiles
}

func (f *faultyFile) ReadAt(data []byte, offset int64) (int, error) {
	if err := f.files.access(); err != nil {
		return 0, err
	}
	return f.File.ReadAt(data, offset)
}

// TestLateColumnsOfFaultyFiles tests that an access which fails is an error, or has no effect: a dictionary that cannot be read
// leaves out no row group, and the numbers of rows must not depend on it.
func TestLateColumnsOfFaultyFiles(t *testing.T) {
	e := engineOn(t, devicetest.Open(t, "host"))
	folder := t.TempDir()
	rows := wideRows(rand.New(rand.NewPCG(9, 10)), 0, 2000)
	for i := range rows {
		rows[i].Text = fmt.Sprintf("part %d of group %d", i%7, i/200%5)
	}
	_, err := gpuframe.From(e, rows).WriteFile(t.Context(), filepath.Join(folder, "f.parquet"), gpuframe.ParquetWith(gpuframe.ParquetOptions{GroupRows: 200, PageRows: 64}))
	require.NoError(t, err)
	files := &faultyFiles{FS: os.DirFS(folder)}
	query := func() gpuframe.Query {
		return e.Files(files).Parquet("f.parquet").Filter(gpuframe.Col("text").Eq("part 3 of group 2")).Sort(gpuframe.Col("key")).Head(4)
	}
	want := lines(t, query())
	failed, fault := 0, int64(1)
	for ; ; fault++ {
		files.accesses.Store(0)
		files.fault.Store(fault)
		got, err := linesOf(t.Context(), query())
		if err != nil {
			require.ErrorIs(t, err, errFault, "access %d", fault)
			failed++
			continue
		}
		require.Equal(t, want, got, "access %d", fault)
		if files.accesses.Load() < fault {
			break
		}
	}
	require.Positive(t, failed)
	require.Greater(t, fault, int64(failed))
}
