package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// bars collects the requirements of a row.
type bars []string

// demand adds a bar and its result.
func (b *bars) demand(met bool, format string, args ...any) {
	verdict := " OK"
	if !met {
		verdict = " MISSED"
	}
	*b = append(*b, fmt.Sprintf(format, args...)+verdict)
}

func (b bars) String() string { return strings.Join(b, ", ") }

func microseconds(took time.Duration) string {
	return fmt.Sprintf("%.3f µs", float64(took.Nanoseconds())/1e3)
}

func milliseconds(took time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(took.Nanoseconds())/1e6)
}

func ratio(ours, theirs time.Duration) float64 { return ours.Seconds() / theirs.Seconds() }

// part returns a part as a percentage of the whole, or nothing if the whole is unknown.
func part(share, whole uint64) string {
	if share == 0 || whole == 0 {
		return ""
	}
	return fmt.Sprintf("%.3f", float64(share)/float64(whole))
}

func gibibytes(bytes uint64) string {
	if bytes == 0 {
		return ""
	}
	return fmt.Sprintf("%.2f GiB", float64(bytes)/(1<<30))
}

// size returns a size in the largest binary unit that divides it.
func size(bytes uint64) string {
	switch {
	case bytes%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", bytes>>20)
	case bytes%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", bytes>>10)
	}
	return fmt.Sprintf("%d B", bytes)
}

func middle[T time.Duration | float64](values []T) T {
	slices.Sort(values)
	return values[len(values)/2]
}
