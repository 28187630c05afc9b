package source_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// fileFormat is a format with a valid file and a function that opens its bytes.
type fileFormat struct {
	name string
	data []byte
	open func(data []byte) (source.Source, error)
}

func fileFormats(t testing.TB) []fileFormat {
	ipc := func(data []byte) (source.Source, error) { return source.IPCReader("data", bytes.NewReader(data)) }
	return []fileFormat{
		{"parquet", parquetOf(t, 20, numbered(0, 60)), func(data []byte) (source.Source, error) {
			return source.ParquetReaderAt("data", bytes.NewReader(data), int64(len(data)))
		}},
		{"csv", []byte(csvText), func(data []byte) (source.Source, error) {
			return source.CSVReader("data", bytes.NewReader(data), source.CSVOptions{})
		}},
		{"json", []byte(jsonText), func(data []byte) (source.Source, error) {
			return source.JSONReader("data", bytes.NewReader(data), source.JSONOptions{})
		}},
		{"arrow file", ipcOf(t, true, numbered(0, 30), numbered(30, 20)), ipc},
		{"arrow stream", ipcOf(t, false, numbered(0, 30), numbered(30, 20)), ipc},
	}
}

// mostTables is the number of tables after which a drain ends: rows of nulls have no bytes, so a
// damaged file can have billions of them.
const mostTables = 10_000

// drain reads all tables and returns the first error.
func drain(ctx context.Context, s source.Source, m *memory.Manager) (err error) {
	return drainBy(ctx, s, m, 25)
}

func drainBy(ctx context.Context, s source.Source, m *memory.Manager, batchRows int64) (err error) {
	reader, err := s.Open(ctx, m, source.Request{BatchRows: batchRows})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	for range mostTables {
		table, err := reader.Next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if err := table.Release(); err != nil {
			return err
		}
	}
	return nil
}

// damage changes some bytes, removes some or appends some.
func damage(random *rand.Rand, data []byte) []byte {
	data = bytes.Clone(data)
	for range 1 + random.IntN(3) {
		if len(data) == 0 {
			return data
		}
		at := random.IntN(len(data))
		switch random.IntN(5) {
		case 0:
			data = data[:at]
		case 1:
			data = append(data[:at:at], data[min(len(data), at+1+random.IntN(9)):]...)
		case 2:
			data[at] ^= 1 << random.IntN(8)
		case 3:
			data[at] = byte(random.IntN(256))
		default:
			for i := at; i < min(len(data), at+8); i++ {
				data[i] = 0xff
			}
		}
	}
	return data
}

// A damaged file gives an error of the source, or other rows. It never panics, and leaves
// no memory behind: not on the device, and no pinned memory.
func TestDamagedFiles(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		rounds := 200
		if testing.Short() {
			rounds = 40
		}
		formats := fileFormats(t)
		plain := len(formats)
		formats = append(formats, variedFormats(t)...)
		for i, f := range formats {
			whole, err := f.open(f.data)
			require.NoError(t, err, f.name)
			require.NoError(t, drain(t.Context(), whole, m), "%s without damage", f.name)
			random := rand.New(rand.NewPCG(7, 7))
			failures := 0
			rounds := rounds
			if i >= plain {
				rounds /= 4 // these files have many columns
			}
			for round := range rounds {
				data := damage(random, f.data)
				if strings.HasPrefix(f.name, "parquet") {
					data = []func(*rand.Rand, []byte) []byte{damage, damageFooter, damagePages}[round%3](random, f.data)
				}
				s, err := f.open(data)
				if err == nil {
					err = drainBy(t.Context(), s, m, []int64{25, 0}[round%2])
				}
				if err != nil {
					failures++
					var typed *source.Error
					require.ErrorAs(t, err, &typed, "%s, round %d", f.name, round)
					require.NotErrorIs(t, err, memory.ErrLeak, "%s, round %d", f.name, round)
				}
			}
			assert.Greater(t, failures, rounds/8, f.name)
			require.Zero(t, m.Stats().InUse, f.name)
		}
	})
}

func fuzz(f *testing.F, at int) {
	m := devicetest.Manager(f, devicetest.Open(f, "host"), memory.Options{Budget: 64 << 20})
	format := fileFormats(f)[at]
	f.Add(format.data)
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := format.open(data)
		if err == nil {
			err = drain(t.Context(), s, m)
		}
		if err == nil && format.name == "parquet" {
			err = drainBy(t.Context(), s, m, 0) // strings with their dictionaries
		}
		if err != nil {
			var typed *source.Error
			require.ErrorAs(t, err, &typed)
		}
		require.Zero(t, m.Stats().InUse)
	})
}

func FuzzParquet(f *testing.F)     { fuzz(f, 0) }
func FuzzCSV(f *testing.F)         { fuzz(f, 1) }
func FuzzJSON(f *testing.F)        { fuzz(f, 2) }
func FuzzArrowFile(f *testing.F)   { fuzz(f, 3) }
func FuzzArrowStream(f *testing.F) { fuzz(f, 4) }

// brokenAt fails for reads that touch some bytes.
type brokenAt struct {
	data     []byte
	from, to int64
	reached  atomic.Bool
}

var errDisk = errors.New("the disk is broken")

func (b *brokenAt) ReadAt(p []byte, offset int64) (int, error) {
	if offset < b.to && offset+int64(len(p)) > b.from {
		b.reached.Store(true)
		return 0, errDisk
	}
	return bytes.NewReader(b.data).ReadAt(p, offset)
}

// A reader that fails at any byte gives its own error, and the file is not called damaged.
func TestReadersAtThatFail(t *testing.T) {
	m := devicetest.Manager(t, devicetest.Open(t, "host"), memory.Options{})
	data := parquetOf(t, 20, numbered(0, 60))
	reached := 0
	for from := int64(0); from < int64(len(data)); from += 16 {
		broken := &brokenAt{data: data, from: from, to: from + 16}
		s, err := source.ParquetReaderAt("data", broken, int64(len(data)))
		require.NoError(t, err)
		err = drain(t.Context(), s, m)
		if !broken.reached.Load() {
			require.NoError(t, err)
			continue
		}
		reached++
		require.ErrorIs(t, err, errDisk, "bytes from %d on", from)
		require.NotErrorIs(t, err, source.ErrContents)
	}
	assert.Greater(t, reached, len(data)/16/2)
}
