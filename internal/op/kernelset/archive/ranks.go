package archive

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Most differences between the lines of PTX are registers and labels: `%r117` has another
// number each time. A kernel mostly uses those that it used last, so an archive has their ranks:
// the first use of a register is `%r!`, a later one is `%r0` for the register of its class that was
// used last, `%r1` for the one before, and so on. The numbers themselves are those of the first
// uses, 1, 2, …: [Numbered] gives kernels these numbers. The name of the kernel is nameMark.

const (
	newMark  = '!'
	nameMark = "\x01"
)

// labelPrefix begins the labels of clang; they end with the numbers of the function and of the label.
const labelPrefix = "$L__BB"

// Numbered returns a kernel with the numbers of their first uses for registers and labels. It
// computes the same.
func Numbered(kernel string) string {
	numbers := map[string]int{}
	counts := map[string]int{}
	return renamed(kernel, func(class, name string) string {
		known := numbers[class+name]
		if known == 0 {
			counts[class]++
			known = counts[class]
			numbers[class+name] = known
		}
		return strconv.Itoa(known)
	})
}

// ranked returns a kernel with ranks in place of numbers. The kernel is [Numbered].
func ranked(kernel, name string) (string, error) {
	if i := strings.IndexFunc(kernel, func(r rune) bool { return r == rune(nameMark[0]) || r >= 0x80 }); i >= 0 {
		return "", fmt.Errorf("the kernel %s has the character %q", name, kernel[i])
	}
	recent := map[string]*ranks{}
	var fault error
	text := renamed(strings.ReplaceAll(kernel, name, nameMark), func(class, number string) string {
		order := ranksOf(recent, class)
		n, _ := strconv.Atoi(number)
		if n == len(*order)+1 {
			order.add()
			return string(newMark)
		}
		rank := slices.Index(*order, n)
		if rank < 0 {
			fault = fmt.Errorf("%s%s is used before %s%d", class, number, class, len(*order)+1)
			return number
		}
		return strconv.Itoa(order.use(rank))
	})
	back, err := unranked(text, name)
	if fault != nil {
		err = fault
	}
	if err == nil && back != kernel {
		err = errors.New("its ranks give another text")
	}
	if err != nil {
		return "", fmt.Errorf("the kernel %s: %w", name, err)
	}
	return text, nil
}

// unranked returns the kernel of a text of ranks.
func unranked(text, name string) (string, error) {
	recent := map[string]*ranks{}
	var fault error
	kernel := renamed(text, func(class, rank string) string {
		order := ranksOf(recent, class)
		if rank == string(newMark) {
			order.add()
			return strconv.Itoa(len(*order))
		}
		i, err := strconv.Atoi(rank)
		if err != nil || i >= len(*order) {
			fault = fmt.Errorf("the rank %s%s is above %d", class, rank, len(*order))
			return rank
		}
		order.use(i)
		return strconv.Itoa((*order)[0])
	})
	return strings.ReplaceAll(kernel, nameMark, name), fault
}

// ranks are the numbers of the registers of a class, the one used last first.
type ranks []int

func ranksOf(recent map[string]*ranks, class string) *ranks {
	order := recent[class]
	if order == nil {
		order = new(ranks)
		recent[class] = order
	}
	return order
}

// add puts the next number first.
func (r *ranks) add() { *r = slices.Insert(*r, 0, len(*r)+1) }

// use moves the number of a rank to the first place. It returns the rank.
func (r ranks) use(rank int) int {
	n := r[rank]
	copy(r[1:rank+1], r[:rank])
	r[0] = n
	return rank
}

// renamed returns a text with other names of registers and labels: name gets the class of each,
// such as `%r` or `$L`, and the number or newMark after it. Registers are those that the text declares
// by their number, as in `.reg .b32 %r<12>;`.
func renamed(text string, name func(class, old string) string) string {
	var out strings.Builder
	out.Grow(len(text))
	declared := map[string]bool{}
	for {
		i := strings.IndexAny(text, "%$")
		if i < 0 {
			out.WriteString(text)
			return out.String()
		}
		out.WriteString(text[:i])
		text = text[i:]
		class, old, rest := token(text)
		switch {
		case class == "%" || old == "" && !strings.HasPrefix(rest, "<"):
			out.WriteString(text[:1])
			text = text[1:]
			continue
		case old == "":
			declared[class] = true
			out.WriteString(class)
		case class == "$L" || declared[class]:
			out.WriteString(class)
			out.WriteString(name(class, old))
		default:
			out.WriteString(class)
			out.WriteString(old)
		}
		text = rest
	}
}

// token divides a text that begins with a register or a label: its class, its number or newMark, and
// the rest. The label of clang's two numbers is one of the class `$L`.
func token(text string) (class, old, rest string) {
	letters := 1
	if text[0] == '$' {
		letters = len("$L")
		if strings.HasPrefix(text, labelPrefix) {
			n := len(labelPrefix)
			for n < len(text) && (isDigit(text[n]) || text[n] == '_') {
				n++
			}
			return "$L", text[len("$L"):n], text[n:]
		}
		if !strings.HasPrefix(text, "$L") {
			return "%", "", text
		}
	} else {
		for letters < len(text) && text[letters] >= 'a' && text[letters] <= 'z' {
			letters++
		}
	}
	end := letters
	if end < len(text) && text[end] == newMark {
		end++
	} else {
		for end < len(text) && isDigit(text[end]) {
			end++
		}
	}
	return text[:letters], text[letters:end], text[end:]
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
