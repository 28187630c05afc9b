package sink

import (
	"context"
	"errors"
	"io"

	"github.com/apache/arrow/go/v17/arrow"
	"github.com/apache/arrow/go/v17/arrow/ipc"
)

// IPCOptions describe an Arrow IPC file.
type IPCOptions struct {
	// Stream writes the streaming format, which readers of pipes need.
	Stream bool
	// Zstd compresses the buffers.
	Zstd bool
}

// IPC is the Arrow IPC format. It holds every type.
func IPC(options IPCOptions) Format { return ipcFormat{options} }

type ipcFormat struct{ IPCOptions }

func (ipcFormat) name() string { return "arrow" }

// ipcWriter is a writer of either format.
type ipcWriter interface {
	Write(record arrow.Record) error
	Close() error
}

func (f ipcFormat) begin(w io.Writer, schema *arrow.Schema) (encoder, error) {
	options := []ipc.Option{ipc.WithSchema(schema), ipc.WithDictionaryDeltas(false)}
	if f.Zstd {
		options = append(options, ipc.WithZstd())
	}
	if f.Stream {
		return &ipcEncoder{writer: ipc.NewWriter(w, options...), schema: schema}, nil
	}
	writer, err := ipc.NewFileWriter(&positioned{Writer: w}, options...)
	if err != nil {
		return nil, unsupported(err)
	}
	return &ipcEncoder{writer: writer, schema: schema}, nil
}

// positioned is a writer that knows its position, which is all that arrow-go seeks.
type positioned struct {
	io.Writer
	at int64
}

func (p *positioned) Write(data []byte) (int, error) {
	n, err := p.Writer.Write(data)
	p.at += int64(n)
	return n, err
}

// Seek returns the position. It cannot change it.
func (p *positioned) Seek(offset int64, whence int) (int64, error) {
	if offset != 0 || whence != io.SeekCurrent {
		return 0, errors.ErrUnsupported
	}
	return p.at, nil
}

type ipcEncoder struct {
	writer ipcWriter
	schema *arrow.Schema
	closed bool
}

func (e *ipcEncoder) write(_ context.Context, record arrow.Record) error {
	return unsupported(e.writer.Write(record))
}

func (e *ipcEncoder) end(context.Context) error {
	e.closed = true
	return unsupported(e.writer.Close())
}

// drop closes the writer, which releases the dictionaries that it holds.
func (e *ipcEncoder) drop() {
	if !e.closed {
		_ = guarded(e.writer.Close)
	}
}
