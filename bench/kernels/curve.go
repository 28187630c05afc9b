package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe/bench/internal/table"
)

// curve measures every operator on tables of 2^10 to 2^28 rows.
func (b *bench) curve(ctx context.Context) error {
	var heads []string
	lines := map[string][]string{}
	var names []string
	const least, most, step = 10, 28, 3
	for exponent := least; exponent <= most; exponent += step {
		heads = append(heads, fmt.Sprintf("2^%d", exponent))
		err := b.curveAt(ctx, 1<<exponent, func(name, cell string) {
			if _, known := lines[name]; !known {
				names = append(names, name)
			}
			lines[name] = append(lines[name], cell)
		})
		if err != nil {
			return fmt.Errorf("2^%d rows: %w", exponent, err)
		}
	}
	t := table.New(append([]string{"Grows/s"}, heads...)...)
	for _, name := range names {
		t.Add(append([]string{name}, lines[name]...)...)
	}
	return show("by the number of rows: "+strings.Join(heads, ", "), t)
}

func (b *bench) curveAt(ctx context.Context, rows int, add func(name, cell string)) (err error) {
	data, err := b.generate(ctx, rows)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, b.release(), data.Release()) }()
	for _, f := range b.figures(data) {
		took, err := b.onDevice(ctx, f.work)
		if err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
		rate := float64(rows) / took.Seconds() / 1e9
		add(f.name, fmt.Sprintf("%.3g", rate))
	}
	return nil
}
