package codegen

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/device"
	"github.com/gpuframe/gpuframe/kernels/internal/ptx"
)

// hole begins a line of a template that a predicate takes the place of.
const hole = "//@predicate"

// lastParameter matches the last of a kernel's parameters, a struct.
var lastParameter = regexp.MustCompile(`\.param\s+\.align\s+8\s+\.b8\s+(\w+)\[\d+\]\s*\)`)

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
	parameter := lastParameter.FindStringSubmatchIndex(code[:body])
	if parameter == nil {
		return "", fmt.Errorf("its last parameter is not a struct of words: %w", device.ErrInvalidValue)
	}
	g.parameter = code[parameter[2]:parameter[3]]
	var s strings.Builder
	fmt.Fprintf(&s, "%s.param .align 8 .b8 %s[%d]\n)", code[:parameter[0]], g.parameter, 8*g.Words())
	holes := 0
	for line := range strings.Lines(code[parameter[1]:]) {
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

// predicate writes what stands in place of a hole.
func (g *Generator) predicate(prefix string, operands []string) (string, error) {
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
	b := ptx.New(prefix)
	values, err := g.Strided(b, ptx.Register(row), len(keep), stride)
	if err != nil {
		return "", err
	}
	for i := range values {
		v := values[i][0]
		if v.kind.family != boolean {
			return "", fmt.Errorf("the predicate is %v, not bool: %w", v.Type, device.ErrInvalidValue)
		}
		b.Move("selp.u32", ptx.Register(keep[i]), "1", "0", both(b, v.Registers[0], v.Valid))
	}
	return b.Scope(), nil
}
