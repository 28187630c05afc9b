package codegen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// predicateHole is the name of the hole that a predicate replaces.
const predicateHole = "predicate"

// lastParameter returns the position of a kernel's last parameter, a struct of words,
// its name, and the position after the parameter list.
func lastParameter(head string) (begin int, name string, end int, ok bool) {
	begin, end = strings.LastIndex(head, ".param"), strings.LastIndexByte(head, ')')
	if begin < 0 || end < begin {
		return 0, "", 0, false
	}
	fields := strings.Fields(head[begin:end])
	if len(fields) != 5 || !slices.Equal(fields[:4], []string{".param", ".align", "8", ".b8"}) {
		return 0, "", 0, false
	}
	name, _, ok = strings.Cut(fields[4], "[")
	return begin, name, end + 1, ok
}

// Splice puts the program's first output, a bool, into the holes of a kernel that was
// compiled from CUDA C++, and returns the whole module. The kernel's last parameter is
// a struct of u64 words, of any length, by value: it becomes the argument struct of
// [Generator.Words] words. Its name replaces the name with which the generator was
// made. In the source a hole is
//
//	asm volatile("//@predicate %0 %1" : "=r"(keep) : "l"(row));
//
// which sets the u32 keep to 1 if the row's value is true and not null, and otherwise
// to 0. A hole for several rows, row, row + stride and so on, loads all of them before
// it computes:
//
//	asm volatile("//@predicate %0 %1 %2 %3 %4 %5" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(row), "n"(32));
//
// Such a hole may pass the bits of an input's values, if they are already loaded, each
// in a register of the same width. [Generator.Give] names the input. "given" precedes
// one register per row:
//
//	asm volatile("//@predicate %0 %1 %2 %3 given %4 %5" : "=r"(a), "=r"(b) : "l"(row), "n"(32), "l"(x), "l"(y));
//
// Every row has to be less than the length of the columns; clamp other rows and ignore
// their results. The other lanes of the warp need not reach the hole. Each hole uses
// separate registers, so one hole in a loop that is not unrolled makes the smallest
// code. The functions that the program calls precede the kernel.
func (g *Generator) Splice(template, kernel string) (string, error) {
	text, err := g.splice(template, kernel)
	if err != nil {
		return "", fmt.Errorf("splice a predicate into %s: %w", kernel, err)
	}
	return text, nil
}

func (g *Generator) splice(template, kernel string) (string, error) {
	return g.fill(template, kernel, predicateHole, g.Words(), g.predicate)
}

// SpliceRows puts code into the holes of a kernel that was compiled from CUDA C++, and returns the
// whole module: see [Generator.Splice]. The caller writes the code of a hole, mostly by
// [Generator.GuardedEach]. The kernel's last parameter has room for more words after those of
// [Generator.Words], which [Generator.Word] loads too.
func (g *Generator) SpliceRows(template, kernel, hole string, more int, write ptx.Hole) (string, error) {
	text, err := g.fill(template, kernel, hole, g.Words()+more, write)
	if err != nil {
		return "", fmt.Errorf("splice %s into %s: %w", hole, kernel, err)
	}
	return text, nil
}

// fill fills the holes of one name in a kernel whose last parameter becomes a struct of words.
func (g *Generator) fill(template, kernel, hole string, words int, write ptx.Hole) (string, error) {
	begin := strings.Index(template, ".entry "+kernel+"(")
	if begin < 0 {
		return "", fmt.Errorf("the template has no such kernel: %w", device.ErrInvalidValue)
	}
	begin = strings.LastIndexByte(template[:begin], '\n') + 1 // includes .visible
	size := strings.Index(template[begin:], "\n}")
	body := strings.IndexByte(template[begin:], '{')
	if size < body || body < 0 {
		return "", fmt.Errorf("the kernel has no end: %w", device.ErrInvalidValue)
	}
	code := template[begin : begin+size]
	parameter, name, after, ok := lastParameter(code[:body])
	if !ok {
		return "", fmt.Errorf("its last parameter is not a struct of words: %w", device.ErrInvalidValue)
	}
	g.parameter = name
	head := fmt.Sprintf("%s.param .align 8 .b8 %s[%d]\n)", code[:parameter], g.parameter, 8*words)
	filled, holes, err := ptx.Fill(code[after:], map[string]ptx.Hole{hole: write})
	switch {
	case err != nil:
		return "", err
	case holes == 0:
		return "", fmt.Errorf("it has no line //@%s: %w", hole, device.ErrInvalidValue)
	}
	return template[:begin] + g.Functions() + head + filled + template[begin+size:], nil
}

// Give names the input of the values that holes pass. Call it before Splice. Without it
// the registers after "given" are ignored and all values are loaded.
func (g *Generator) Give(input int) { g.given = input + 1 }

// predicate writes the code that replaces a hole.
func (g *Generator) predicate(b *ptx.Builder, operands []string) error {
	var values []string
	at := slices.Index(operands, "given")
	given := at >= 0
	if given {
		operands, values = operands[:at], operands[at+1:]
	}
	if len(operands) < 2 {
		return fmt.Errorf("%v: it takes registers for the result and the row: %w", operands, device.ErrInvalidValue)
	}
	keep, row, stride := operands[:len(operands)-1], operands[len(operands)-1], 0
	if len(operands) > 2 {
		keep, row = operands[:len(operands)-2], operands[len(operands)-2]
		var err error
		if stride, err = strconv.Atoi(operands[len(operands)-1]); err != nil {
			return fmt.Errorf("%v: the stride is no number: %w", operands, device.ErrInvalidValue)
		}
	}
	if given && len(values) != len(keep) {
		return fmt.Errorf("%v: %d values are given of %d rows: %w", operands, len(values), len(keep), device.ErrInvalidValue)
	}
	indices, registers := strided(ptx.Register(row), len(keep), stride), map[rowIndex]ptx.Register{}
	for i, value := range values {
		registers[indices[i]] = ptx.Register(value)
	}
	rows, err := g.evaluate(b, indices, registers, nil)
	if err != nil {
		return err
	}
	for i := range rows {
		v := rows[i][0]
		if v.kind.family != boolean {
			return fmt.Errorf("the predicate is %v, not bool: %w", v.Type, device.ErrInvalidValue)
		}
		b.Move("selp.u32", ptx.Register(keep[i]), "1", "0", holds(b, v))
	}
	return nil
}
