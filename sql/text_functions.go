package sql

import (
	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// textFunctions are functions of texts that take texts of columns, or that the host computes.
func textFunctions() map[string]function {
	return map[string]function{
		"strpos":             ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.Find(x) }),
		"instr":              ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.Find(x) }),
		"contains":           ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.Contains(x) }),
		"starts_with":        ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.HasPrefix(x) }),
		"prefix":             ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.HasPrefix(x) }),
		"ends_with":          ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.HasSuffix(x) }),
		"suffix":             ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.HasSuffix(x) }),
		"levenshtein":        ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.EditDistance(x) }),
		"editdist3":          ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.EditDistance(x) }),
		"jaccard":            ofTexts(func(e, x gpuframe.Expr) gpuframe.Expr { return e.JaccardSimilarity(x) }),
		"position":           {2, 2, position},
		"md5":                direct(gpuframe.Expr.MD5),
		"nfc_normalize":      direct(func(e gpuframe.Expr) gpuframe.Expr { return e.Normalize("NFC") }),
		"substring":          {2, 3, substring},
		"substr":             {2, 3, substring},
		"regexp_extract_all": {2, 3, regexExtractAll},
	}
}

// ofTexts is a function of two texts.
func ofTexts(f func(e, x gpuframe.Expr) gpuframe.Expr) function {
	return function{2, 2, func(t *translation, at *tree.Call, list []value) value {
		return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return f(e[0], e[1]) }, t.asText(at, list[0]), t.asText(at, list[1]))
	}}
}

// position is the place of the first text in the second one.
func position(t *translation, at *tree.Call, list []value) value {
	return ofTexts(func(x, e gpuframe.Expr) gpuframe.Expr { return e.Find(x) }).call(t, at, list)
}

// substring is a part of a text from a character on, the first is 1.
func substring(t *translation, at *tree.Call, list []value) value {
	for _, v := range list[1:] {
		if !v.isConstant() {
			return t.substringAt(at, list)
		}
	}
	start, length := t.whole(at, list[1], "the first character"), 1<<31-1
	if len(list) > 2 {
		if length = t.whole(at, list[2], "the number of characters"); length < 0 {
			return t.substringAt(at, list)
		}
	}
	if start == 0 { // a place before the first character
		start, length = 1, max(0, length-1)
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr { return e[0].Substring(start, length) }, list[0])
}

// substringAt is substring with a start or a length that is computed. A negative length is that of the characters before
// the start.
func (t *translation) substringAt(at *tree.Call, list []value) value {
	arguments := []value{t.asText(at, list[0])}
	for i, v := range list[1:] {
		if !isInteger(v.dataType) {
			t.fail(at.Args[i+1].Expr, "argument %d of %s is %s, expected an integer", i+2, text(at.Name), typeOf(v))
		}
		arguments = append(arguments, t.settled(v))
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		if len(e) == 2 {
			return e[0].SubstringAt(e[1], int64(1<<31-1))
		}
		start, length := e[1].Cast(int64Type), e[2].Cast(int64Type)
		end := gpuframe.If(start.Gt(0), start.Sub(1), gpuframe.Greatest(e[0].LengthChars().Cast(int64Type).Add(start), 0))
		begin := gpuframe.Greatest(end.Add(length), 0)
		isBack := length.Lt(0).And(start.Ne(0))
		return e[0].SubstringAt(gpuframe.If(isBack, begin.Add(1), start), gpuframe.If(isBack, end.Sub(begin), length))
	}, arguments...)
}

// regexExtractAll is the list of the texts of a group of all matches. A group without a part in a match is empty.
func regexExtractAll(t *translation, at *tree.Call, list []value) value {
	pattern, group := t.literalText(at, list[1], "the pattern"), 0
	if len(list) > 2 {
		group = t.whole(at, list[2], "the number of the group")
	}
	return t.typed(at, func(e []gpuframe.Expr) gpuframe.Expr {
		return e[0].ExtractAllRegex(pattern, group).ListEval(gpuframe.Element().FillNull(""))
	}, t.asText(at, list[0]))
}
