package regex

import (
	"fmt"
	"regexp/syntax"
)

// mostBytes is the length of the longest pattern.
const mostBytes = 1 << 16

// mostInstructions and mostRanges are the numbers of instructions, and of ranges of characters in
// them, that a pattern is compiled to. Repetitions within repetitions multiply them: (\pL{100}){1000}
// has 100,000 instructions of 650 ranges.
const mostInstructions, mostRanges = 1 << 16, 1 << 20

// checkSize refuses a pattern before it is compiled.
func checkSize(parsed *syntax.Regexp) error {
	instructions, ranges := sizeOf(parsed)
	switch {
	case instructions > mostInstructions:
		return fmt.Errorf("more than %d instructions: %w", mostInstructions, ErrTooLarge)
	case ranges > mostRanges:
		return fmt.Errorf("more than %d ranges of characters: %w", mostRanges, ErrTooLarge)
	}
	return nil
}

// sizeOf returns at least the numbers of instructions and of ranges, up to one more than the limits.
func sizeOf(e *syntax.Regexp) (instructions, ranges int) {
	instructions = 1
	switch e.Op {
	case syntax.OpLiteral:
		instructions, ranges = len(e.Rune), len(e.Rune)
	case syntax.OpCharClass:
		ranges = len(e.Rune) / 2
	}
	for _, sub := range e.Sub {
		i, r := sizeOf(sub)
		instructions, ranges = instructions+i, ranges+r
	}
	if e.Op == syntax.OpRepeat {
		times := max(e.Min, e.Max, 1)
		instructions, ranges = instructions*times, ranges*times
	}
	return min(instructions, mostInstructions+1), min(ranges, mostRanges+1)
}
