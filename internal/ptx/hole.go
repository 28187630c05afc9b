package ptx

import (
	"fmt"
	"slices"
	"strings"
)

// holeMark begins a line that a hole replaces.
const holeMark = "//@"

// Hole writes the code that replaces a line
//
//	//@name operands…
//
// of a kernel. In CUDA C++ such a line is the text of an asm statement. Its operands
// are separated by spaces: registers, immediates, and words that the hole defines.
type Hole func(b *Builder, operands []string) error

// Code writes instructions that compute results from arguments.
type Code func(b *Builder, results, arguments []Register)

// Function is a hole that computes results from arguments. Its line lists the registers
// of the results, an equals sign, and the arguments:
//
//	asm("//@fold %0 = %1 %2" : "=&l"(c) : "l"(a), "l"(b));
//
// The results are early clobbers ("=&"), so that the code may write one of them before
// it has read all arguments.
type Function struct {
	Results, Arguments int
	Code               Code
}

// Hole returns the function as a hole.
func (f Function) Hole() Hole {
	return func(b *Builder, operands []string) error {
		equals := slices.Index(operands, "=")
		if equals != f.Results || len(operands)-equals-1 != f.Arguments {
			return fmt.Errorf("its operands are %q, not %d results, =, and %d arguments", operands, f.Results, f.Arguments)
		}
		registers := make([]Register, len(operands))
		for i, operand := range operands {
			registers[i] = Register(operand)
		}
		f.Code(b, registers[:equals], registers[equals+1:])
		return nil
	}
}

// Fill replaces the lines of all holes in a text, and returns their number. A line
// that names another hole is an error. Each line has a separate builder, with a prefix
// that no other line has.
func Fill(text string, holes map[string]Hole) (filled string, lines int, err error) {
	var s strings.Builder
	s.Grow(len(text) + len(text)/2)
	for {
		at := strings.Index(text, holeMark)
		if at < 0 {
			break
		}
		line := text[at+len(holeMark):]
		if end := strings.IndexByte(line, '\n'); end >= 0 {
			line = line[:end]
		}
		s.WriteString(text[:at])
		text = text[at+len(holeMark)+len(line):]
		operands := strings.Fields(line)
		if len(operands) == 0 || holes[operands[0]] == nil {
			return "", 0, fmt.Errorf("the line %s%s names no hole that is defined", holeMark, line)
		}
		b := New(fmt.Sprintf("hole%d", lines))
		if err := holes[operands[0]](b, operands[1:]); err != nil {
			return "", 0, fmt.Errorf("hole %s: %w", operands[0], err)
		}
		s.WriteString(strings.TrimSpace(b.statement()))
		lines++
	}
	s.WriteString(text)
	return s.String(), lines, nil
}

// statement returns the instructions, in braces if they have registers or labels.
func (b *Builder) statement() string {
	if b.labels == 0 && b.count == [classes]int{} {
		return b.Code()
	}
	return b.Scope()
}
