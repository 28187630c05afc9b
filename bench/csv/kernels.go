package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe/internal/base/release"
	"github.com/gpuframe/gpuframe/internal/io/source/delimited"
	"github.com/gpuframe/gpuframe/memory"
)

// kernelText is the length of the text that kernels are measured with.
const kernelText = 128 << 20

// types are those of the columns of generated files.
var types = []arrow.DataType{
	arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Int64, arrow.PrimitiveTypes.Float64, arrow.PrimitiveTypes.Float64,
	arrow.FixedWidthTypes.Date32, &arrow.TimestampType{Unit: arrow.Second, TimeZone: "UTC"}, arrow.BinaryTypes.String, arrow.BinaryTypes.String,
}

// measureKernels prints the time to copy and to decode a text of a generated file.
func measureKernels(ctx context.Context, name string, m *memory.Manager, rounds int) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	part := make([]byte, kernelText)
	n, err := io.ReadFull(file, part)
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		return err
	}
	text, ok := bytes.CutPrefix(part[:n], []byte(header))
	if !ok {
		return nil
	}
	began := time.Now()
	var count delimited.Count
	count.Add(text, delimited.CountPiece(text))
	fmt.Printf("rows counted by one goroutine %6.2f GB/s\n", float64(len(text))/time.Since(began).Seconds()/1e9)
	texts := []delimited.Text{{Bytes: text[:count.End], Rows: count.Rows}}
	names := strings.Split(strings.TrimSpace(header), ",")
	for _, s := range append([]selection{{"separators", []string{}}}, selections...) {
		layout := delimited.Layout{Delimiter: ',', Width: len(names), Nulls: []string{"", "NULL", "null"}}
		for i, name := range names {
			if s.columns == nil || slices.Contains(s.columns, name) {
				layout.Columns = append(layout.Columns, delimited.Column{Type: types[i], Place: i})
			}
		}
		if err := measureDecoding(ctx, s.name, m, layout, texts, rounds); err != nil {
			return err
		}
	}
	return nil
}

func measureDecoding(ctx context.Context, name string, m *memory.Manager, layout delimited.Layout, texts []delimited.Text, rounds int) (err error) {
	batch, err := delimited.Copy(ctx, m, layout, texts, delimited.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, batch.Release()) }()
	var best time.Duration
	for i := range rounds + 1 {
		if err := m.Stream().Synchronize(ctx); err != nil {
			return err
		}
		began := time.Now()
		columns, err := batch.Decode(ctx)
		err = errors.Join(err, m.Stream().Synchronize(ctx))
		took := time.Since(began)
		if err = errors.Join(err, release.All(columns)); err != nil {
			return err
		}
		if i == 1 || i > 1 && took < best {
			best = took
		}
	}
	fmt.Printf("%-14s decoding alone of %d rows %8.2f ms %6.1f GB/s of text\n", name, texts[0].Rows, best.Seconds()*1e3, float64(len(texts[0].Bytes))/best.Seconds()/1e9)
	return nil
}
