package regex

import (
	"context"
	"encoding/binary"
	"fmt"
	"regexp/syntax"
	"slices"
	"unicode"
)

// mostClasses is the limit of classes, without the end of the text.
const mostClasses = 255

// classes divides the characters: those of a class take the same instructions.
type classes struct {
	// starts are the first characters of ranges, which end before the next one. numbers has
	// their classes.
	starts  []rune
	numbers []uint8
	// samples has a character of each class.
	samples []rune
}

// classesOf returns the classes of a program. Characters of different kinds have different
// classes too.
func classesOf(ctx context.Context, prog *syntax.Prog, asserted assertions) (*classes, error) {
	bounds, sets := []rune{0}, setsOf(prog)
	add := func(low, high rune) { bounds = append(bounds, low, high+1) }
	for _, inst := range sets {
		switch inst.Op {
		case syntax.InstRune1, syntax.InstRune:
			if len(inst.Rune) != 1 {
				for i := 0; i+1 < len(inst.Rune); i += 2 {
					add(inst.Rune[i], inst.Rune[i+1])
				}
				continue
			}
			first := inst.Rune[0]
			add(first, first)
			if syntax.Flags(inst.Arg)&syntax.FoldCase != 0 {
				for r := unicode.SimpleFold(first); r != first; r = unicode.SimpleFold(r) {
					add(r, r)
				}
			}
		case syntax.InstRuneAnyNotNL:
			add('\n', '\n')
		}
	}
	for r := rune(1); r <= 0x80; r++ {
		if asserted.kindOf(r) != asserted.kindOf(r-1) {
			bounds = append(bounds, r)
		}
	}
	slices.Sort(bounds)
	bounds = slices.Compact(bounds)
	if len(bounds)*len(sets) > mostSteps/matchSteps {
		return nil, fmt.Errorf("it takes more than %d steps to find its classes of characters: %w", mostSteps, ErrTooLarge)
	}
	table := &classes{}
	known := map[string]uint8{}
	for _, low := range bounds {
		if low > unicode.MaxRune {
			break
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		signature := signatureOf(sets, low, asserted.kindOf(low))
		class, ok := known[signature]
		if !ok {
			if len(known) == mostClasses {
				return nil, fmt.Errorf("more than %d classes of characters: %w", mostClasses, ErrTooLarge)
			}
			class = uint8(len(known))
			known[signature] = class
			table.samples = append(table.samples, low)
		}
		if n := len(table.numbers); n > 0 && table.numbers[n-1] == class {
			continue
		}
		table.starts, table.numbers = append(table.starts, low), append(table.numbers, class)
	}
	return table, nil
}

// setsOf returns the instructions that take different characters: the first one of those that take
// the same.
func setsOf(prog *syntax.Prog) (sets []*syntax.Inst) {
	known := map[string]bool{}
	for i := range prog.Inst {
		inst := &prog.Inst[i]
		key := []byte{byte(inst.Op)}
		switch inst.Op {
		case syntax.InstRune, syntax.InstRune1:
			key = append(key, byte(syntax.Flags(inst.Arg)&syntax.FoldCase))
			for _, r := range inst.Rune {
				key = binary.AppendUvarint(key, uint64(r))
			}
		case syntax.InstRuneAny, syntax.InstRuneAnyNotNL:
		default:
			continue
		}
		if !known[string(key)] {
			known[string(key)] = true
			sets = append(sets, inst)
		}
	}
	return sets
}

// signatureOf names the instructions that take a character.
func signatureOf(sets []*syntax.Inst, r rune, k kind) string {
	signature := []byte{byte(k)}
	for i, inst := range sets {
		if takes(inst, r) {
			signature = binary.AppendUvarint(signature, uint64(i))
		}
	}
	return string(signature)
}

// takes reports whether an instruction takes a character.
func takes(inst *syntax.Inst, r rune) bool {
	switch inst.Op {
	case syntax.InstRune, syntax.InstRune1:
		return inst.MatchRune(r)
	case syntax.InstRuneAny:
		return true
	case syntax.InstRuneAnyNotNL:
		return r != '\n'
	}
	return false
}

// class returns the class of a character.
func (c *classes) class(r rune) uint8 {
	i, exact := slices.BinarySearch(c.starts, r)
	if !exact {
		i--
	}
	return c.numbers[i]
}
