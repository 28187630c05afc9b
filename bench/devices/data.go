package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/buffer"
	"github.com/gpuframe/gpuframe/column"
	"github.com/gpuframe/gpuframe/memory"
)

// mix is a permutation of the integers of 64 bits, the finalizer of SplitMix64 (Steele, Lea and
// Flood, "Fast splittable pseudorandom number generators", 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// draw returns the number of a row for a seed, uniform below a bound of at most 32 bits.
func draw(seed, row uint64, below int64) int64 {
	return int64(mix(seed<<48^row) >> 32 * uint64(below) >> 32)
}

// field is a column of a table: a function of the number of the row.
type field struct {
	name string
	i32  func(row uint64) int32
	f64  func(row uint64) float64
}

// load makes the rows of a table from first to end on a device.
func load(ctx context.Context, mgr *memory.Manager, fields []field, first, end int64) (_ *buffer.Buffer, err error) {
	var types []arrow.Field
	var columns []*column.Column
	defer func() {
		for _, c := range columns {
			err = errors.Join(err, c.Release())
		}
	}()
	for _, f := range fields {
		var c *column.Column
		if f.i32 != nil {
			c, err = upload(ctx, mgr, f.i32, first, end)
		} else {
			c, err = upload(ctx, mgr, f.f64, first, end)
		}
		if err != nil {
			return nil, fmt.Errorf("column %s: %w", f.name, err)
		}
		types, columns = append(types, arrow.Field{Name: f.name, Type: c.Type()}), append(columns, c)
	}
	return buffer.New(arrow.NewSchema(types, nil), columns, buffer.Rows{Count: end - first})
}

// upload computes a column on all processors and copies it to a device.
func upload[T int32 | float64](ctx context.Context, mgr *memory.Manager, value func(uint64) T, first, end int64) (*column.Column, error) {
	values := make([]T, end-first)
	var running sync.WaitGroup
	share := len(values)/runtime.GOMAXPROCS(0) + 1
	at := first
	for part := range slices.Chunk(values, share) {
		from := uint64(at)
		running.Go(func() {
			for i := range part {
				part[i] = value(from + uint64(i))
			}
		})
		at += int64(len(part))
	}
	running.Wait()
	return column.FromSlice(ctx, mgr, values, column.SliceOptions{})
}

// tables are tables in the memory of the devices of an engine.
type tables struct {
	engine *gpuframe.Engine
	parts  []*buffer.Buffer
}

// table makes a table of some rows, an equal part on each device.
func (t *tables) table(ctx context.Context, fields []field, rows int64) (gpuframe.Query, error) {
	managers := t.engine.Managers()
	parts, failures := make([]*buffer.Buffer, len(managers)), make([]error, len(managers))
	var running sync.WaitGroup
	for i, m := range managers {
		n := int64(len(managers))
		running.Go(func() {
			parts[i], failures[i] = load(ctx, m, fields, int64(i)*rows/n, int64(i+1)*rows/n)
		})
	}
	running.Wait()
	for _, m := range parts {
		if m != nil {
			t.parts = append(t.parts, m)
		}
	}
	if err := errors.Join(failures...); err != nil {
		return gpuframe.Query{}, err
	}
	return t.engine.Table(parts[0], parts[1:]...), nil
}

func (t *tables) release() (err error) {
	for _, p := range t.parts {
		err = errors.Join(err, p.Release())
	}
	return err
}
