package source

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/klauspost/compress/gzip"
	"github.com/klauspost/compress/zstd"

	"github.com/gpuframe/gpuframe/objectstore"
)

var (
	csvExtensions  = []string{".csv", ".tsv", ".txt"}
	jsonExtensions = []string{".json", ".jsonl", ".ndjson"}
)

// compressed are the last extensions of the names of text files that are compressed.
var compressed = []string{gzipExtension, zstdExtension}

const gzipExtension, zstdExtension = ".gz", ".zst"

// decompressor opens a text file with one of the extensions.
func decompressor(extension string, from io.Reader) (io.ReadCloser, error) {
	if extension == gzipExtension {
		return gzip.NewReader(from)
	}
	const mostWindow = 128 << 20 // of zstd --long, which its own tool reads without an option
	d, err := zstd.NewReader(from, zstd.WithDecoderMaxWindow(mostWindow))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}

// WithoutQuery returns a URL of a web server without its query, and another name as it is.
func WithoutQuery(name string) string { return strings.TrimSuffix(objectstore.Display(name), "?…") }

// Extension returns the extension of the name of a file in small letters, which shows its format: of text that is
// compressed, such as sales.csv.gz, the one before that of the compression.
func Extension(name string) string {
	name = WithoutQuery(name)
	last := strings.ToLower(filepath.Ext(name))
	if slices.Contains(compressed, last) {
		if inner := strings.ToLower(filepath.Ext(name[:len(name)-len(last)])); slices.Contains(csvExtensions, inner) || slices.Contains(jsonExtensions, inner) {
			return inner
		}
	}
	return last
}

// decompressed returns the contents of an open text file, if its name shows that they are compressed.
func decompressed(name string, file *stream) (*stream, error) {
	extension := strings.ToLower(filepath.Ext(WithoutQuery(name)))
	if !slices.Contains(compressed, extension) {
		return file, nil
	}
	contents, err := decompressor(extension, bufio.NewReaderSize(file.Reader, 1<<20))
	if err != nil {
		err = fmt.Errorf("decompress %s: %w: %w", extension, err, ErrContents)
		return nil, errors.Join(err, file.close())
	}
	return &stream{Reader: contents, close: func() error { return errors.Join(contents.Close(), file.close()) }}, nil
}
