package regex

import "regexp/syntax"

// kind is the class of a neighbouring character that assertions distinguish.
type kind uint8

const (
	other kind = iota
	// edge is the beginning of the text.
	edge
	newline
	word
	kinds
)

// assertions are the kinds that the assertions of a pattern distinguish.
type assertions [kinds]bool

func assertionsOf(prog *syntax.Prog) assertions {
	var asserted syntax.EmptyOp
	for _, inst := range prog.Inst {
		if inst.Op == syntax.InstEmptyWidth {
			asserted |= syntax.EmptyOp(inst.Arg)
		}
	}
	return assertions{
		edge:    asserted&(syntax.EmptyBeginText|syntax.EmptyBeginLine) != 0,
		newline: asserted&(syntax.EmptyBeginLine|syntax.EmptyEndLine) != 0,
		word:    asserted&(syntax.EmptyWordBoundary|syntax.EmptyNoWordBoundary) != 0,
	}
}

// kind returns a kind, or other if the pattern does not distinguish it.
func (a assertions) kind(k kind) kind {
	if a[k] {
		return k
	}
	return other
}

// kindOf returns the kind of a character.
func (a assertions) kindOf(r rune) kind {
	switch {
	case r == '\n':
		return a.kind(newline)
	case syntax.IsWordChar(r):
		return a.kind(word)
	}
	return other
}

// sample returns a character of a kind, as syntax.EmptyOpContext takes it.
func (k kind) sample() rune {
	return [kinds]rune{other: ' ', edge: -1, newline: '\n', word: 'a'}[k]
}
