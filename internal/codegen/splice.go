package codegen

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/internal/ptx"
)

// hole begins a line of a template that a predicate takes the place of.
const hole = "//@predicate"

// lastParameter returns where the last of a kernel's parameters begins, a struct of
// words, its name, and where what follows the list begins.
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

// Splice puts the program's first output, a bool, into a kernel that was compiled
// from CUDA C++ with holes in it, and returns the whole module. The kernel's last
// parameter is a struct of u64 words, of any number, by value: it becomes the
// argument struct of [Generator.Words] words, whatever name the generator was made
// with. In the source a hole is
//
//	asm volatile("//@predicate %0 %1" : "=r"(keep) : "l"(row));
//
// which sets the u32 keep to 1 where the row's value is true and not null, else to
// 0. Several rows at once, row, row + stride and so on, load all before they compute:
//
//	asm volatile("//@predicate %0 %1 %2 %3 %4 %5" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(row), "n"(32));
//
// Such a hole may give the bits of an input's values, if they are there already, each in
// a register as wide as they are: that of the input which [Generator.Give] has named.
// Behind "given" there is one for each row:
//
//	asm volatile("//@predicate %0 %1 %2 %3 given %4 %5" : "=r"(a), "=r"(b) : "l"(row), "n"(32), "l"(x), "l"(y));
//
// Every row has to be less than the length of the columns; clamp those that are not,
// and forget what they give. Lanes may be elsewhere: a hole needs no others. Up to
// the hole's end each takes registers of its own, so one in a loop that is not
// unrolled makes the smallest code. The functions that the program calls stand ahead
// of the kernel.
func (g *Generator) Splice(template, kernel string) (string, error) {
	text, err := g.splice(template, kernel)
	if err != nil {
		return "", fmt.Errorf("splice a predicate into %s: %w", kernel, err)
	}
	return text, nil
}

func (g *Generator) splice(template, kernel string) (string, error) {
	begin := strings.Index(template, ".entry "+kernel+"(")
	if begin < 0 {
		return "", fmt.Errorf("the template has no such kernel: %w", device.ErrInvalidValue)
	}
	begin = strings.LastIndexByte(template[:begin], '\n') + 1 // .visible
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
	var s strings.Builder
	fmt.Fprintf(&s, "%s.param .align 8 .b8 %s[%d]\n)", code[:parameter], g.parameter, 8*g.Words())
	holes := 0
	for line := range strings.Lines(code[after:]) {
		operands, found := strings.CutPrefix(strings.TrimSpace(line), hole)
		if !found {
			s.WriteString(line)
			continue
		}
		scope, err := g.predicate(fmt.Sprintf("hole%d", holes), strings.Fields(operands))
		if err != nil {
			return "", err
		}
		s.WriteString(scope)
		holes++
	}
	if holes == 0 {
		return "", fmt.Errorf("it has no line %s: %w", hole, device.ErrInvalidValue)
	}
	return template[:begin] + g.Functions() + s.String() + template[begin+size:], nil
}

// Give names the input whose values holes are given. It is called before Splice; where
// it is not, what holes are given is of no use and all values are loaded.
func (g *Generator) Give(input int) { g.given = input + 1 }

// predicate writes what stands in place of a hole.
func (g *Generator) predicate(prefix string, operands []string) (string, error) {
	var values []string
	at := slices.Index(operands, "given")
	given := at >= 0
	if given {
		operands, values = operands[:at], operands[at+1:]
	}
	if len(operands) < 2 {
		return "", fmt.Errorf("%s %v: it takes registers for the result and the row: %w", hole, operands, device.ErrInvalidValue)
	}
	keep, row, stride := operands[:len(operands)-1], operands[len(operands)-1], 0
	if len(operands) > 2 {
		keep, row = operands[:len(operands)-2], operands[len(operands)-2]
		var err error
		if stride, err = strconv.Atoi(operands[len(operands)-1]); err != nil {
			return "", fmt.Errorf("%s %v: the stride is no number: %w", hole, operands, device.ErrInvalidValue)
		}
	}
	if given && len(values) != len(keep) {
		return "", fmt.Errorf("%s %v: %d values are given of %d rows: %w", hole, operands, len(values), len(keep), device.ErrInvalidValue)
	}
	b := ptx.New(prefix)
	places, registers := strided(ptx.Register(row), len(keep), stride), map[place]ptx.Register{}
	for i, value := range values {
		registers[places[i]] = ptx.Register(value)
	}
	rows, err := g.evaluate(b, places, registers, nil)
	if err != nil {
		return "", err
	}
	for i := range rows {
		v := rows[i][0]
		if v.kind.family != boolean {
			return "", fmt.Errorf("the predicate is %v, not bool: %w", v.Type, device.ErrInvalidValue)
		}
		b.Move("selp.u32", ptx.Register(keep[i]), "1", "0", holds(b, v))
	}
	return b.Scope(), nil
}
