package arrowipc_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
	"testing/iotest"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/array"
	"github.com/apache/arrow/go/v17/arrow/ipc"
	arrowmemory "github.com/apache/arrow/go/v17/arrow/memory"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/internal/arrays/arrowipc"
)

// sample returns a record with numbers, nulls, strings, lists and a dictionary.
func sample(from, rows int) arrow.Record {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "n", Type: arrow.PrimitiveTypes.Int64, Nullable: true},
		{Name: "s", Type: arrow.BinaryTypes.String, Nullable: true},
		{Name: "l", Type: arrow.ListOf(arrow.PrimitiveTypes.Int32), Nullable: true},
		{Name: "d", Type: &arrow.DictionaryType{IndexType: arrow.PrimitiveTypes.Int8, ValueType: arrow.BinaryTypes.String}, Nullable: true},
	}, nil)
	b := array.NewRecordBuilder(arrowmemory.DefaultAllocator, schema)
	defer b.Release()
	for i := range rows {
		b.Field(0).(*array.Int64Builder).AppendValues([]int64{int64(from + i)}, []bool{i%5 != 2})
		b.Field(1).(*array.StringBuilder).Append(string(rune('a' + i%20)))
		list := b.Field(2).(*array.ListBuilder)
		list.Append(true)
		for k := range i % 3 {
			list.ValueBuilder().(*array.Int32Builder).Append(int32(k))
		}
		if err := b.Field(3).(*array.BinaryDictionaryBuilder).AppendString([]string{"x", "yy"}[i%2]); err != nil {
			panic(err)
		}
	}
	return b.NewRecord()
}

type recordWriter interface {
	Write(arrow.Record) error
	Close() error
}

// encoded returns a stream or file of two records.
func encoded(t testing.TB, file bool, options ...ipc.Option) []byte {
	t.Helper()
	first, second := sample(0, 30), sample(30, 20)
	to, err := os.Create(filepath.Join(t.TempDir(), "a.arrow"))
	require.NoError(t, err)
	defer to.Close()
	options = append(options, ipc.WithSchema(first.Schema()), ipc.WithDictionaryDeltas(true))
	var writer recordWriter = ipc.NewWriter(to, options...)
	if file {
		writer, err = ipc.NewFileWriter(to, options...)
		require.NoError(t, err)
	}
	require.NoError(t, writer.Write(first))
	require.NoError(t, writer.Write(second))
	require.NoError(t, writer.Close())
	data, err := os.ReadFile(to.Name())
	require.NoError(t, err)
	return data
}

// counted is an allocator that has the length of the largest buffer.
type counted struct {
	arrowmemory.Allocator
	most int
}

func (c *counted) Allocate(size int) []byte {
	c.most = max(c.most, size)
	return c.Allocator.Allocate(size)
}

func (c *counted) Reallocate(size int, old []byte) []byte {
	c.most = max(c.most, size)
	return c.Allocator.Reallocate(size, old)
}

// drain returns the number of rows, and the length of the largest buffer.
func drain(open func(arrowipc.Options) (array.RecordReader, error)) (rows int64, most int, err error) {
	allocator := &counted{Allocator: arrowmemory.NewGoAllocator()}
	reader, err := open(arrowipc.Options{Allocator: allocator})
	if err != nil {
		return 0, allocator.most, err
	}
	defer reader.Release()
	for reader.Next() {
		rows += reader.Record().NumRows()
	}
	return rows, allocator.most, reader.Err()
}

func ofStream(data []byte) func(arrowipc.Options) (array.RecordReader, error) {
	return func(o arrowipc.Options) (array.RecordReader, error) { return arrowipc.Stream(bytes.NewReader(data), o) }
}

func ofFile(data []byte) func(arrowipc.Options) (array.RecordReader, error) {
	return func(o arrowipc.Options) (array.RecordReader, error) {
		return arrowipc.Open(bytes.NewReader(data), int64(len(data)), o)
	}
}

// inputs are valid streams and files.
func inputs(t testing.TB) map[string]struct {
	data []byte
	open func([]byte) func(arrowipc.Options) (array.RecordReader, error)
} {
	type input = struct {
		data []byte
		open func([]byte) func(arrowipc.Options) (array.RecordReader, error)
	}
	return map[string]input{
		"stream":           {encoded(t, false), ofStream},
		"stream, zstd":     {encoded(t, false, ipc.WithZstd()), ofStream},
		"stream, lz4":      {encoded(t, false, ipc.WithLZ4()), ofStream},
		"stream in a file": {encoded(t, false), ofFile},
		"file":             {encoded(t, true), ofFile},
		"file, zstd":       {encoded(t, true, ipc.WithZstd()), ofFile},
	}
}

func TestWhole(t *testing.T) {
	for name, input := range inputs(t) {
		rows, _, err := drain(input.open(input.data))
		require.NoError(t, err, name)
		assert.EqualValues(t, 50, rows, name)
	}
}

// A stream that ends early is an error, unless it ends between two messages.
func TestCut(t *testing.T) {
	for name, input := range inputs(t) {
		failed := 0
		for end := range len(input.data) {
			rows, most, err := drain(input.open(input.data[:end]))
			require.LessOrEqual(t, most, len(input.data), "%s, cut at %d", name, end)
			if err == nil {
				require.LessOrEqual(t, rows, int64(50))
				continue
			}
			failed++
			require.ErrorIs(t, err, arrowipc.ErrContents, "%s, cut at %d", name, end)
		}
		assert.Greater(t, failed, len(input.data)-20, name)
	}
}

// Changed bytes give an error or other rows, and never a buffer of more than
// 64 MiB.
func TestMutated(t *testing.T) {
	rounds := 3000
	if testing.Short() {
		rounds = 500
	}
	for name, input := range inputs(t) {
		random := rand.New(rand.NewPCG(3, 4))
		for round := range rounds {
			data := bytes.Clone(input.data)
			for range 1 + random.IntN(3) {
				at := random.IntN(len(data))
				switch random.IntN(3) {
				case 0:
					data[at] ^= 1 << random.IntN(8)
				case 1:
					data[at] = byte(random.IntN(256))
				default:
					copy(data[at:], []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, byte(random.IntN(2)) * 0x7f})
				}
			}
			_, most, err := drain(input.open(data))
			require.LessOrEqual(t, most, 64<<20, "%s, round %d", name, round)
			if err != nil && !errors.Is(err, arrow.ErrNotImplemented) {
				require.ErrorIs(t, err, arrowipc.ErrContents, "%s, round %d", name, round)
			}
		}
	}
}

// Claims of lengths are refused before memory is allocated.
func TestClaims(t *testing.T) {
	data := encoded(t, false)
	second := 8 + binary.LittleEndian.Uint32(data[4:]) // after the schema
	for _, claim := range []uint32{0x7ffffff0, 0x80000000, 0xfffffff0} {
		damaged := bytes.Clone(data)
		binary.LittleEndian.PutUint32(damaged[second+4:], claim)
		_, most, err := drain(ofStream(damaged))
		require.ErrorIs(t, err, arrowipc.ErrContents)
		assert.LessOrEqual(t, most, len(data))
	}
	// The numbers have 30 values of 8 bytes.
	claimed := func(data []byte, value uint64) []byte {
		old := binary.LittleEndian.AppendUint64(nil, 240)
		require.Contains(t, string(data), string(old))
		return bytes.ReplaceAll(data, old, binary.LittleEndian.AppendUint64(nil, value))
	}
	for _, data := range [][]byte{data, encoded(t, false, ipc.WithZstd()), encoded(t, false, ipc.WithLZ4())} {
		for _, value := range []uint64{3 << 30, 1 << 62, 1 << 63} {
			_, most, err := drain(ofStream(claimed(data, value)))
			require.ErrorIs(t, err, arrowipc.ErrContents)
			assert.LessOrEqual(t, most, len(data))
		}
	}
	rows := bytes.ReplaceAll(data, binary.LittleEndian.AppendUint64(nil, 30), binary.LittleEndian.AppendUint64(nil, 1<<40))
	_, _, err := drain(ofStream(rows))
	require.ErrorContains(t, err, "a batch of 1099511627776 rows")
}

func TestLimits(t *testing.T) {
	data := encoded(t, false)
	_, err := arrowipc.Stream(bytes.NewReader(data), arrowipc.Options{Limits: arrowipc.Limits{Fields: 3}})
	require.ErrorContains(t, err, "a schema of more than 3 fields")
	_, err = arrowipc.Stream(bytes.NewReader(data), arrowipc.Options{Limits: arrowipc.Limits{SchemaBytes: 100}})
	require.ErrorContains(t, err, "expected 100 at most")
	reader, err := arrowipc.Stream(bytes.NewReader(data), arrowipc.Options{MostBuffer: 64})
	require.NoError(t, err)
	defer reader.Release()
	require.False(t, reader.Next())
	require.ErrorContains(t, reader.Err(), "expected at most 64")
}

var errDisk = errors.New("the disk is broken")

// A reader that fails gives its own error.
func TestBrokenReaders(t *testing.T) {
	data := encoded(t, false)
	for end := range len(data) {
		broken := io.MultiReader(bytes.NewReader(data[:end]), iotest.ErrReader(errDisk))
		_, _, err := drain(func(o arrowipc.Options) (array.RecordReader, error) { return arrowipc.Stream(broken, o) })
		require.ErrorIs(t, err, errDisk, "at %d", end)
		require.NotErrorIs(t, err, arrowipc.ErrContents, "at %d", end)
	}
	_, err := arrowipc.Open(brokenAt{}, 1000, arrowipc.Options{})
	require.ErrorIs(t, err, errDisk)
}

type brokenAt struct{}

func (brokenAt) ReadAt([]byte, int64) (int, error) { return 0, errDisk }

// FuzzOpen reads arbitrary streams and files.
func FuzzOpen(f *testing.F) {
	for _, input := range inputs(f) {
		f.Add(input.data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for _, open := range []func([]byte) func(arrowipc.Options) (array.RecordReader, error){ofStream, ofFile} {
			if _, _, err := drain(open(data)); err != nil && !errors.Is(err, arrow.ErrNotImplemented) {
				require.ErrorIs(t, err, arrowipc.ErrContents)
			}
		}
	})
}
