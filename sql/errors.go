package sql

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// abort ends a translation: the panic that [translation.fail] raises and [catch] turns into an error.
type abort struct{ err error }

// catch ends a translation that has failed with its error.
func catch(err *error) {
	switch reason := recover().(type) {
	case nil:
	case abort:
		*err = reason.err
	default:
		panic(reason)
	}
}

// fail ends the translation with an error at a node.
func (t *translation) fail(at tree.Node, format string, arguments ...any) {
	panic(abort{&parse.Error{Text: t.text, Position: at.Pos(), Message: fmt.Sprintf(format, arguments...)}})
}

// failAs ends the translation with an error that has a cause.
func (t *translation) failAs(at tree.Node, cause error) {
	panic(abort{&parse.Error{Text: t.text, Position: at.Pos(), Message: reason(cause), Cause: cause}})
}

// reason returns the text of an error without the names of verbs of gpuframe.
func reason(err error) string {
	var problems *gpuframe.QueryError
	if !errors.As(err, &problems) {
		return err.Error()
	}
	texts := make([]string, len(problems.Problems))
	for i, p := range problems.Problems {
		texts[i] = p.Err.Error()
	}
	return strings.Join(texts, "; ")
}

// havingHint returns the remedy for an aggregate in a clause.
func havingHint(clause string) string {
	if clause == "WHERE" {
		return ": use HAVING"
	}
	return ""
}
