package sql

import (
	"maps"
	"slices"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// Named is a table or a view of a session.
type Named struct {
	Name  string
	Query gpuframe.Query
	View  bool
}

// Engine returns the engine of the session.
func (s *Session) Engine() *gpuframe.Engine { return s.engine }

// Table returns the query of a table or a view.
func (s *Session) Table(name string) (q gpuframe.Query, ok bool) {
	t, ok := s.lookup(name)
	return t.query, ok
}

// Tables returns the tables and views in the order of their names.
func (s *Session) Tables() []Named {
	s.mu.RLock()
	defer s.mu.RUnlock()
	list := make([]Named, 0, len(s.tables))
	for _, key := range slices.Sorted(maps.Keys(s.tables)) {
		t := s.tables[key]
		list = append(list, Named{t.name, t.query, t.view})
	}
	return list
}

// References returns the names of tables in a statement, as they are written and each once. Those of its common table
// expressions are among them. A fault of the text is a [*parse.Error].
func References(text string) (list []string, err error) {
	statement, err := single(text)
	if err != nil {
		return nil, err
	}
	add := func(name []tree.Name) {
		if last := len(name) - 1; last >= 0 && !slices.Contains(list, name[last].Text) {
			list = append(list, name[last].Text)
		}
	}
	tree.Walk(statement, func(n tree.Node, _ int) bool {
		switch n := n.(type) {
		case *tree.TableName:
			add(n.Name)
		case *tree.Describe:
			add(n.Table)
		}
		return true
	})
	return list, nil
}

// HasRows reports whether a statement yields rows: it is for [Session.Query] then, and otherwise for
// [Session.Exec]. A fault of the text is a [*parse.Error].
func HasRows(text string) (bool, error) {
	statement, err := single(text)
	if err != nil {
		return false, err
	}
	switch statement.(type) {
	case *tree.Create, *tree.Drop, *tree.Copy:
		return false, nil
	}
	return true, nil
}
