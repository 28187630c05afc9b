package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"time"

	"github.com/gpuframe/gpuframe/bench/internal/table"
	"github.com/gpuframe/gpuframe/kernels/expr"
	"github.com/gpuframe/gpuframe/kernels/text"
)

// address is the regular expression of the figures.
const address = `[a-z]+@[a-z]+\.(com|org)`

// patterns measures regular expressions on texts of 64 bytes, of words and in every second
// one of an address. The bar is 50 GB of text in a second, and 100 times package regexp on
// one processor.
func (b *bench) patterns(ctx context.Context, t *table.Table) (err error) {
	r := rand.New(rand.NewPCG(7, 8))
	pool := addresses(r)
	rows := b.rows / 8
	data, err := b.uploadTexts(ctx, rows, func(to []byte) []byte {
		at := r.IntN(len(pool)/textWidth) * textWidth
		return append(to, pool[at:at+textWidth]...)
	})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, data.Release()) }()
	host := hostRate(pool)
	in := expr.Col("text")
	for _, f := range []struct {
		name string
		e    expr.Expr
	}{
		{"matches an address", text.Matches(in, address)}, {"find an address", text.Find(in, address)}, {"count addresses", text.Count(in, address)},
		{"extract a name", text.Extract(in, `([a-z]+)@[a-z]+\.(com|org)`, 1)}, {"replace addresses", text.Replace(in, address, "<$1>")},
	} {
		if !b.match.MatchString(f.name) {
			continue
		}
		took, err := b.onDevice(ctx, b.evaluate(data, f.e))
		if err != nil {
			t.Add(f.name, err.Error())
			continue
		}
		rate := float64(rows) * textWidth / took.Seconds() / 1e9
		bar := ""
		if f.name == "matches an address" {
			bar = fmt.Sprintf(", ≥ 50 %s", verdict(rate >= 50))
		}
		t.Add(fmt.Sprintf("%s, %d rows", f.name, rows), milliseconds(took), fmt.Sprintf("%.1f", float64(rows)/took.Seconds()/1e9), "",
			fmt.Sprintf("%.1f GB/s of text%s", rate, bar), fmt.Sprintf("%.0f × package regexp's matches", rate/host))
	}
	return nil
}

// addresses are texts of textWidth bytes.
func addresses(r *rand.Rand) []byte {
	letters := func(to []byte, n int) []byte {
		for range n {
			to = append(to, byte('a'+r.IntN(26)))
		}
		return to
	}
	var all []byte
	for range 1 << 14 {
		var line []byte
		for len(line) < 36 {
			line = append(letters(line, 2+r.IntN(8)), ' ')
		}
		line = line[:36]
		if r.IntN(2) == 0 {
			line = append(letters(append(letters(line, 5), '@'), 6), []string{".com", ".org", ".net"}[r.IntN(3)]...)
		}
		for len(line) < textWidth {
			line = append(line, ' ')
		}
		all = append(all, line[:textWidth]...)
	}
	return all
}

// hostRate returns the GB/s of package regexp on one processor.
func hostRate(texts []byte) float64 {
	pattern, matches := regexp.MustCompile(address), 0
	start := time.Now()
	for i := 0; i < len(texts); i += textWidth {
		if pattern.Match(texts[i : i+textWidth]) {
			matches++
		}
	}
	if matches == 0 {
		return 0
	}
	return float64(len(texts)) / time.Since(start).Seconds() / 1e9
}
