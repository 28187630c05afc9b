package sink

import (
	"bytes"
	"context"
	"io"
	"runtime"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"
)

// textEncoder encodes parts of records in parallel and writes them in order.
type textEncoder struct {
	w      io.Writer
	header func(io.Writer) error
	encode func(io.Writer, arrow.Record) error
	begun  bool
}

// partRows is the number of rows that a goroutine encodes at a time.
const partRows = 1 << 13

func (e *textEncoder) start() error {
	if e.begun {
		return nil
	}
	e.begun = true
	return e.header(e.w)
}

func (e *textEncoder) write(ctx context.Context, record arrow.Record) error {
	if err := e.start(); err != nil {
		return err
	}
	workers := int64(runtime.GOMAXPROCS(0))
	for begin := int64(0); begin < record.NumRows(); begin += workers * partRows {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := e.parts(record, begin, min(begin+workers*partRows, record.NumRows())); err != nil {
			return err
		}
	}
	return nil
}

// parts encodes rows of a record, each part on a goroutine.
func (e *textEncoder) parts(record arrow.Record, begin, end int64) error {
	n := int((end - begin + partRows - 1) / partRows)
	texts, failures := make([]bytes.Buffer, n), make([]error, n)
	var encoding sync.WaitGroup
	for i := range n {
		from := begin + int64(i)*partRows
		part := record.NewSlice(from, min(from+partRows, end))
		encoding.Go(func() {
			defer part.Release()
			failures[i] = guarded(func() error { return e.encode(&texts[i], part) })
		})
	}
	encoding.Wait()
	for i := range n {
		if failures[i] != nil {
			return failures[i]
		}
		if _, err := e.w.Write(texts[i].Bytes()); err != nil {
			return err
		}
	}
	return nil
}

func (e *textEncoder) end(context.Context) error { return e.start() }

func (e *textEncoder) drop() {}
