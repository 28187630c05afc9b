package source_test

import (
	"bytes"
	"io"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/io/source"
	"github.com/gpuframe/gpuframe/internal/testing/devicetest"
	"github.com/gpuframe/gpuframe/memory"
)

// compressedText returns a text in two members of gzip, or two frames of Zstandard.
func compressedText(t *testing.T, extension, text string) []byte {
	var all bytes.Buffer
	for _, part := range []string{text[:len(text)/2], text[len(text)/2:]} {
		var to io.WriteCloser = gzip.NewWriter(&all)
		if extension == ".zst" {
			var err error
			to, err = zstd.NewWriter(&all)
			require.NoError(t, err)
		}
		_, err := io.WriteString(to, part)
		require.NoError(t, err)
		require.NoError(t, to.Close())
	}
	return all.Bytes()
}

// Compressed text files have the rows of the text. Files that are cut off or not compressed are errors.
func TestCompressedText(t *testing.T) {
	devicetest.EachKernel(t, func(t *testing.T, dev *device.Device) {
		m := devicetest.Manager(t, dev, memory.Options{})
		defer source.SetTexts(true, 1000, 100)()
		text := manyRows(2000)
		for _, extension := range []string{".gz", ".zst"} {
			packed := compressedText(t, extension, text)
			folder := t.TempDir()
			name := write(t, packed, folder, "rows.CSV"+extension)
			write(t, []byte("no text"), folder, "other.bin"+extension)
			for _, path := range []string{name, folder} {
				s, err := source.Files{}.CSV([]string{path}, source.CSVOptions{})
				require.NoError(t, err)
				var counters source.Counters
				assert.Equal(t, count(0, 2000), numbers(t, read(t, s, m, source.Request{Counters: &counters})))
				assert.Less(t, counters.FileBytes.Load(), int64(2*len(packed)))
			}
			for _, length := range []int{len(packed) - 1, len(packed) * 3 / 4, 20, 3} {
				s, err := source.Files{}.CSV([]string{write(t, packed[:length], t.TempDir(), "cut.csv"+extension)}, source.CSVOptions{InferRows: 1})
				if err == nil {
					err = drain(t.Context(), s, m)
				}
				require.ErrorIs(t, err, source.ErrContents, "%s of %d bytes", extension, length)
			}
			s, err := source.Files{}.CSV([]string{write(t, []byte(text), t.TempDir(), "plain.csv"+extension)}, source.CSVOptions{})
			if err == nil {
				err = drain(t.Context(), s, m)
			}
			require.ErrorIs(t, err, source.ErrContents)
			lines := write(t, compressedText(t, extension, "{\"n\":1}\n{\"n\":2}\n"), t.TempDir(), "a.jsonl"+extension)
			objects, err := source.Files{}.JSON([]string{lines}, source.JSONOptions{})
			require.NoError(t, err)
			assert.Equal(t, count(1, 2), numbers(t, read(t, objects, m, source.Request{})))
		}
		require.Zero(t, m.Stats().InUse)
	})
}

func TestExtension(t *testing.T) {
	for name, want := range map[string]string{"a/b.CSV": ".csv", "b.csv.GZ": ".csv", "x.jsonl.zst": ".jsonl", "x.parquet.gz": ".gz", "x.gz": ".gz", "x": "", "x.tsv.bz2": ".bz2"} {
		assert.Equal(t, want, source.Extension(name), name)
	}
}
