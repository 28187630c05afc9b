package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/device/backend"
	"github.com/gpuframe/gpuframe/memory"
)

// figure is one operator on the large table.
type figure struct {
	name string
	// bytes is the minimum that a row moves, reach the required part of the copy rate.
	bytes, reach float64
	// against holds the peers, and the required speed relative to each.
	against []demand
	work    work
}

type demand struct {
	rival  string
	factor float64
}

// large measures every operator on tables of many rows.
func (b *bench) large(ctx context.Context) (err error) {
	if err := b.copyRate(ctx); err != nil {
		return err
	}
	data, err := b.generate(ctx, b.rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.release(), data.Release()) }()
	t := table.New("operator", "time", "Grows/s", "of reach", "bar", "against", "")
	for _, f := range b.figures(data) {
		took, err := b.onDevice(ctx, f.work)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		t.Add(b.line(f, b.rows, took)...)
	}
	return show(fmt.Sprintf("%d rows; the device copies %.0f GB/s", b.rows, b.copied/1e9), t)
}

// line formats a figure with its bars.
func (b *bench) line(f figure, rows int, took time.Duration) []string {
	reach := float64(rows) * f.bytes / b.copied / took.Seconds()
	cells := []string{f.name, milliseconds(took), fmt.Sprintf("%.1f", float64(rows)/took.Seconds()/1e9), fmt.Sprintf("%.3f", reach), ""}
	if f.reach > 0 {
		cells[4] = fmt.Sprintf("≥ %g %s", f.reach, verdict(reach >= f.reach))
	}
	var against []string
	for _, d := range f.against {
		theirs, known := b.rivals[rival{d.rival, rows}]
		if !known {
			continue
		}
		ratio := theirs.Seconds() / took.Seconds()
		text := fmt.Sprintf("%.2f × %s (%s)", ratio, d.rival, milliseconds(theirs))
		if d.factor > 0 {
			text += fmt.Sprintf(", bar %g %s", d.factor, verdict(ratio >= d.factor))
		}
		against = append(against, text)
	}
	return append(cells, strings.Join(against, "; "))
}

// copyRate measures the rate at which the device copies one 8-byte value per row.
func (b *bench) copyRate(ctx context.Context) (err error) {
	bytes := uint64(b.rows) * 8
	from, err := b.mgr.Allocate(bytes, memory.AllocateOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, from.Release()) }()
	to, err := b.mgr.Allocate(bytes, memory.AllocateOptions{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, to.Release()) }()
	took, err := b.onDevice(ctx, func(context.Context) (releaser, error) {
		return nothing{}, b.stream.Enqueue(func(handle backend.Stream) error {
			return b.dev.Driver().CopyOnDeviceAsync(to.Pointer(), from.Pointer(), bytes, handle)
		})
	})
	b.copied = 2 * float64(bytes) / took.Seconds()
	return err
}

// nothing is the result of an operation without one.
type nothing struct{}

func (nothing) Release() error { return nil }
