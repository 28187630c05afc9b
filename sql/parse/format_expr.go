package parse

import (
	"strconv"
	"strings"

	"github.com/gpuframe/gpuframe/sql/tree"
)

// operand writes an expression, in parentheses unless it is a single form.
func (f *formatter) operand(e tree.Expr) {
	if call, ok := first(e).(*tree.Call); ok && levels[strings.ToLower(call.Name[0].Text)] > 0 {
		f.write("(") // a function such as GLOB behind an operator would be the operator
		f.expr(e)
		f.write(")")
		return
	}
	switch e.(type) {
	case *tree.Column, *tree.Literal, *tree.Parameter, *tree.Call, *tree.Case, *tree.Cast, *tree.Exists,
		*tree.Scalar, *tree.List, *tree.Comprehension, *tree.Struct, *tree.Map, *tree.Row, *tree.Subscript,
		*tree.Slice, *tree.FieldOf, *tree.Columns:
		f.expr(e)
	default:
		f.write("(")
		f.expr(e)
		f.write(")")
	}
}

// first returns the expression with which the text of another one begins.
func first(e tree.Expr) tree.Expr {
	for {
		switch x := e.(type) {
		case *tree.Subscript:
			e = x.X
		case *tree.Slice:
			e = x.X
		case *tree.FieldOf:
			e = x.X
		default:
			return e
		}
	}
}

// expr writes an expression.
func (f *formatter) expr(e tree.Expr) {
	switch e := e.(type) {
	case *tree.Unary:
		f.unary(e)
	case *tree.Binary:
		f.operand(e.X)
		f.write(" ", e.Op, " ")
		f.operand(e.Y)
	case *tree.Logic:
		f.logic(e)
	case *tree.Is:
		f.state(e)
	case *tree.Between:
		f.between(e)
	case *tree.In:
		f.in(e)
	case *tree.Like:
		f.like(e)
	case *tree.Quantified:
		f.quantified(e)
	case *tree.Collate:
		f.operand(e.X)
		f.write(" collate ")
		f.name(e.Name)
	case *tree.AtTimeZone:
		f.operand(e.X)
		f.write(" at time zone ")
		f.operand(e.Zone)
	case *tree.Interval:
		f.interval(e)
	case *tree.TypedText:
		f.typeName(e.Type)
		f.write(" ")
		f.quote(e.Text)
	case *tree.Star:
		f.star(e)
	case *tree.Lambda:
		f.write("lambda ")
		f.names(e.Variables)
		f.write(" : ")
		f.expr(e.Body)
	default:
		f.single(e)
	}
}

// single writes an expression that needs no parentheses.
func (f *formatter) single(e tree.Expr) {
	switch e := e.(type) {
	case *tree.Column:
		f.qualified(e.Name)
	case *tree.Literal:
		f.literal(e)
	case *tree.Parameter:
		f.write("$")
		if e.Name != "" {
			if strings.Contains(e.Name, "$") {
				f.write(" ") // else a tag of a text would begin
			}
			f.write(e.Name)
			return
		}
		f.write(strconv.Itoa(e.Number))
	case *tree.Ordinal:
		f.write("#", strconv.Itoa(e.Number))
	case *tree.Default:
		f.write("default")
	case *tree.Call:
		f.call(e)
	case *tree.Case:
		f.caseOf(e)
	case *tree.Cast:
		f.write(map[bool]string{false: "cast(", true: "try_cast("}[e.Try])
		f.expr(e.X)
		f.write(" as ")
		f.typeName(e.Type)
		f.write(")")
	case *tree.Exists:
		f.write("exists ")
		f.inParentheses(e.Query)
	case *tree.Scalar:
		if e.Array {
			f.write("array ")
		}
		f.inParentheses(e.Query)
	case *tree.Columns:
		if e.Unpack {
			f.write("*")
		}
		f.write("columns(")
		f.expr(e.Of)
		f.write(")")
	default:
		f.value(e)
	}
}

func (f *formatter) literal(e *tree.Literal) {
	switch e.Kind {
	case tree.Null:
		f.write("null")
	case tree.True:
		f.write("true")
	case tree.False:
		f.write("false")
	case tree.Text:
		f.quote(e.Text)
	case tree.Blob:
		f.write("x'", e.Text, "'")
	default:
		f.write(e.Text)
	}
}

func (f *formatter) unary(e *tree.Unary) {
	if e.Postfix {
		f.operand(e.X)
		if fixedOperators[e.Op] {
			f.write(" operator(", e.Op, ")")
		} else {
			f.write(" ", e.Op)
		}
		return
	}
	f.write(e.Op, " ")
	f.operand(e.X)
}

func (f *formatter) logic(e *tree.Logic) {
	op := " and "
	if e.Or {
		op = " or "
	}
	for i, term := range e.Terms {
		if i > 0 {
			f.write(op)
		}
		f.operand(term)
	}
}

// not writes NOT and a space if it is set.
func (f *formatter) not(not bool) {
	if not {
		f.write("not ")
	}
}

func (f *formatter) state(e *tree.Is) {
	f.operand(e.X)
	f.write(" is ")
	f.not(e.Not)
	f.write([]string{"null", "true", "false", "unknown", "distinct from "}[e.State])
	if e.State == tree.IsDistinct {
		f.operand(e.From)
	}
}

func (f *formatter) between(e *tree.Between) {
	f.operand(e.X)
	f.write(" ")
	f.not(e.Not)
	f.write("between ")
	if e.Symmetric {
		f.write("symmetric ")
	}
	f.operand(e.Low)
	f.write(" and ")
	f.operand(e.High)
}

func (f *formatter) in(e *tree.In) {
	f.operand(e.X)
	f.write(" ")
	f.not(e.Not)
	f.write("in ")
	switch {
	case e.Query != nil:
		f.inParentheses(e.Query)
	case e.Of != nil:
		f.expr(e.Of)
	default:
		f.write("(")
		f.exprs(e.List)
		if _, ok := e.List[0].(*tree.Scalar); ok && len(e.List) == 1 {
			f.write(",")
		}
		f.write(")")
	}
}

// likeWords are the operators of patterns.
var likeWords = map[tree.LikeKind]string{
	tree.LikePattern: "like", tree.ILikePattern: "ilike", tree.GlobPattern: "glob",
	tree.SimilarPattern: "similar to", tree.RegexPattern: "~", tree.IRegexPattern: "~*",
}

func (f *formatter) like(e *tree.Like) {
	if e.X != nil {
		f.operand(e.X)
	}
	word := likeWords[e.Kind]
	switch {
	case e.Not && (e.Kind == tree.RegexPattern || e.Kind == tree.IRegexPattern):
		word = "!" + word
	case e.Not:
		word = "not " + word
	}
	f.write(" ", word, " ")
	f.operand(e.Pattern)
	if e.Escape != nil {
		f.write(" escape ")
		f.operand(e.Escape)
	}
}

func (f *formatter) quantified(e *tree.Quantified) {
	f.operand(e.X)
	f.write(" ", e.Op, map[bool]string{false: " any ", true: " all "}[e.All])
	if e.Query != nil {
		f.inParentheses(e.Query)
		return
	}
	f.write("(")
	f.expr(e.Of)
	f.write(")")
}

func (f *formatter) interval(e *tree.Interval) {
	f.write("interval ")
	if literal, ok := e.Value.(*tree.Literal); ok && (literal.Kind == tree.Text || literal.Kind == tree.Integer) {
		f.expr(e.Value)
	} else {
		f.write("(")
		f.expr(e.Value)
		f.write(")")
	}
	if e.Unit != "" {
		f.write(" ", e.Unit)
	}
}

func (f *formatter) star(e *tree.Star) {
	if len(e.Table) > 0 {
		f.qualified(e.Table)
		f.write(".")
	}
	f.write("*")
	if len(e.Exclude) > 0 {
		f.write(" exclude (")
		f.commas(len(e.Exclude), func(i int) { f.qualified(e.Exclude[i]) })
		f.write(")")
	}
	if len(e.Replace) > 0 {
		f.write(" replace (")
		f.items(e.Replace)
		f.write(")")
	}
	if len(e.Rename) > 0 {
		f.write(" rename (")
		f.items(e.Rename)
		f.write(")")
	}
	if e.Like != nil {
		f.like(e.Like)
	}
}

func (f *formatter) caseOf(e *tree.Case) {
	f.write("case")
	if e.X != nil {
		f.write(" ")
		f.expr(e.X)
	}
	for _, branch := range e.Branches {
		f.write(" when ")
		f.expr(branch.When)
		f.write(" then ")
		f.expr(branch.Then)
	}
	if e.Else != nil {
		f.write(" else ")
		f.expr(e.Else)
	}
	f.write(" end")
}
