package parse

import "github.com/gpuframe/gpuframe/sql/tree"

// statement writes a statement.
func (f *formatter) statement(s tree.Statement) {
	switch s := s.(type) {
	case *tree.Query:
		if _, ok := s.Body.(tree.Statement); ok {
			f.inParentheses(s) // a description without parentheses is no query
			return
		}
		f.query(s)
	case *tree.Create:
		f.create(s)
	case *tree.Drop:
		f.write("drop ", kindOf(s.View))
		if s.IfExists {
			f.write("if exists ")
		}
		f.qualified(s.Name)
	case *tree.Copy:
		f.copyTo(s)
	case *tree.Describe:
		f.describe(s)
	case *tree.Explain:
		f.write("explain ")
		if s.Analyze {
			f.write("analyze ")
		}
		f.statement(s.Statement)
	case *tree.Show:
		f.write("show")
		if len(s.Name) == 0 {
			return
		}
		f.write(" ")
		if len(s.Name) == 2 && s.Name[0].Text == "all" && !s.Name[0].Quoted {
			f.write("all tables")
			return
		}
		f.qualified(s.Name)
	}
}

// kindOf returns the keyword of a view or a table.
func kindOf(view bool) string {
	if view {
		return "view "
	}
	return "table "
}

func (f *formatter) create(s *tree.Create) {
	f.write("create ")
	if s.Replace {
		f.write("or replace ")
	}
	if s.Temporary {
		f.write("temporary ")
	}
	f.write(kindOf(s.View))
	if s.IfNotExists {
		f.write("if not exists ")
	}
	f.qualified(s.Name)
	f.columns(s.Columns)
	f.write(" as ")
	f.query(s.Query)
}

func (f *formatter) copyTo(s *tree.Copy) {
	f.write("copy ")
	if s.Query != nil {
		f.inParentheses(s.Query)
	} else {
		f.qualified(s.Table)
	}
	f.write(" to ")
	f.operand(s.Path)
	if len(s.Options) == 0 {
		return
	}
	f.write(" (")
	f.commas(len(s.Options), func(i int) {
		option := s.Options[i]
		f.name(option.Name)
		switch len(option.Values) {
		case 0:
		case 1:
			f.write(" ")
			f.expr(option.Values[0])
		default:
			f.write(" ")
			f.list(option.Values)
		}
	})
	f.write(")")
}

func (f *formatter) describe(s *tree.Describe) {
	if s.Summarize {
		f.write("summarize ")
	} else {
		f.write("describe ")
	}
	if s.Query != nil {
		f.query(s.Query)
		return
	}
	f.qualified(s.Table)
}
