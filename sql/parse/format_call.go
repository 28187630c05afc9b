package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// call writes a call with its clauses.
func (f *formatter) call(e *tree.Call) {
	if len(e.Name) == 1 && !e.Name[0].Quoted {
		switch name := e.Name[0].Text; {
		case name == "position" && len(e.Args) == 2:
			f.words(e, "position(", " in ")
			return
		case name == "overlay" && len(e.Args) >= 3:
			f.words(e, "overlay(", " placing ", " from ", " for ")
			return
		}
	}
	f.qualified(e.Name)
	f.write("(")
	if e.Distinct {
		f.write("distinct ")
	}
	if e.Star {
		f.write("*")
	}
	f.commas(len(e.Args), func(i int) {
		if e.Args[i].Name.Text != "" {
			f.name(e.Args[i].Name)
			f.write(" := ")
		}
		f.expr(e.Args[i].Expr)
	})
	f.orderBy(e.OrderBy)
	if e.IgnoreNulls {
		f.write(" ignore nulls")
	}
	f.write(")")
	f.callClauses(e)
}

// words writes a call with words between its arguments.
func (f *formatter) words(e *tree.Call, words ...string) {
	for i, arg := range e.Args {
		f.write(words[i])
		f.operand(arg.Expr)
	}
	f.write(")")
}

func (f *formatter) callClauses(e *tree.Call) {
	if e.Within != nil {
		f.write(" within group (")
		f.orderBy(e.Within)
		f.write(")")
	}
	if e.Filter != nil {
		f.write(" filter (where ")
		f.expr(e.Filter)
		f.write(")")
	}
	if e.Over == nil {
		return
	}
	f.write(" over ")
	if w := e.Over; w.Base.Text != "" && w.Partition == nil && w.OrderBy == nil && w.Frame == nil {
		f.name(w.Base)
		return
	}
	f.window(e.Over)
}

func (f *formatter) window(w *tree.Window) {
	f.write("(")
	if w.Base.Text != "" {
		f.name(w.Base)
	}
	if len(w.Partition) > 0 {
		f.write(" partition by ")
		f.exprs(w.Partition)
	}
	f.orderBy(w.OrderBy)
	if w.Frame != nil {
		f.frame(w.Frame)
	}
	f.write(")")
}

func (f *formatter) frame(frame *tree.Frame) {
	f.write([]string{" rows", " range", " groups"}[frame.Unit], " between ")
	f.bound(frame.Start)
	f.write(" and ")
	f.bound(frame.End)
	f.write([]string{"", " exclude current row", " exclude group", " exclude ties"}[frame.Exclude])
}

func (f *formatter) bound(b tree.Bound) {
	if b.Offset != nil {
		f.operand(b.Offset)
		f.write(" ")
	}
	f.write([]string{
		"unbounded preceding", "preceding", "current row", "following", "unbounded following",
	}[b.Kind])
}
