package ablation

import (
	"embed"
	"fmt"

	"github.com/gpuframe/gpuframe/internal/keys/radix"
	"github.com/gpuframe/gpuframe/internal/op/kernelset"
)

//go:embed cuda/*.ptx*
var code embed.FS

// set has all kernels of a form in one file. Each is compiled alone.
var set = kernelset.Set{Files: code, Directory: "cuda", Apart: true}

// Variant is a form of the sort of keys alone, by all digits.
type Variant struct {
	Name string
	// Width is that of a key in bits.
	Width  int
	Limits radix.Limits
}

// rowsOf are the rows of a thread by the width of keys, in package radix.
var rowsOf = map[int]int{32: 24, 64: 14}

// otherMasks are other numbers of rows, of each four, that find their peers by masks.
var otherMasks = map[int][]int{32: {0, 1, 4}, 64: {1, 2, 4}}

var otherRows = map[int][]int{32: {16, 20, 28}, 64: {12, 16}}

// Variants returns the forms.
func Variants() []Variant {
	var variants []Variant
	add := func(width int, file, suffix string, digitBits, items int, name string) {
		form := &radix.Form{Kernels: &set, File: file, Suffix: fmt.Sprintf("%d_%s", width, suffix), DigitBits: digitBits, Items: items}
		variants = append(variants, Variant{name, width, radix.Limits{Form: form}})
	}
	for _, width := range []int{32, 64} {
		for _, items := range otherRows[width] {
			add(width, "forms", fmt.Sprint("items_", items), radix.DigitBits, items, fmt.Sprintf("%d rows of a thread", items))
		}
		for _, masked := range otherMasks[width] {
			add(width, "forms", fmt.Sprint("masked_", masked), radix.DigitBits, rowsOf[width], fmt.Sprintf("peers of %d in 4 rows by masks", masked))
		}
	}
	add(32, "forms", "match", radix.DigitBits, rowsOf[32], "peers by match.any")
	for _, bits := range []int{6, 7, 9} {
		add(32, fmt.Sprint("digits", bits), "digits", bits, rowsOf[32], fmt.Sprintf("digits of %d bits", bits))
	}
	return variants
}
