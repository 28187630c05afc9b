package sql

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/parse"
	"github.com/gpuframe/gpuframe/sql/tree"
	"github.com/gpuframe/gpuframe/tableformat"
)

// formatOf returns the format of tables that a function of FROM reads, such as delta_scan.
func formatOf(function string) (format string, ok bool) {
	format, ok = strings.CutSuffix(function, "_scan")
	return format, ok && (format == "delta" || format == "iceberg" || slices.Contains(tableformat.Formats(), format))
}

// tableOptions are the options of functions such as delta_scan. Those of iceberg_scan have the names of DuckDB.
var tableOptions = map[string]func(t *translation, o *tableformat.Options, at tree.Node, v value){
	"version": func(t *translation, o *tableformat.Options, at tree.Node, v value) {
		o.Version = new(t.wide(at, v, "the version"))
	},
	"snapshot_from_id": func(t *translation, o *tableformat.Options, at tree.Node, v value) {
		o.Snapshot = new(t.wide(at, v, "the ID of the snapshot"))
	},
	"timestamp": tableTime, "snapshot_from_timestamp": tableTime,
	"ref": func(t *translation, o *tableformat.Options, at tree.Node, v value) {
		o.Ref = t.literalText(at, v, "the name of the branch or tag")
	},
	"allow_moved_paths": func(t *translation, o *tableformat.Options, at tree.Node, v value) {
		moved, ok := v.constant.(bool)
		if !ok {
			t.fail(at, "allow_moved_paths is %s, expected a literal boolean: write allow_moved_paths = true", shownValue(v))
		}
		o.Moved = moved
	},
}

// optionsOf are the names of the options of the formats of which they are known. Other formats may have all.
var optionsOf = map[string][]string{
	"delta":   {"version", "timestamp"},
	"iceberg": {"snapshot_from_id", "snapshot_from_timestamp", "timestamp", "ref", "allow_moved_paths"},
}

// tableOption is the option of [tableformat.Options] that an option of SQL sets.
func tableOption(name string) string {
	switch name {
	case "snapshot_from_id":
		return "snapshot"
	case "snapshot_from_timestamp":
		return "timestamp"
	case "allow_moved_paths":
		return "moved"
	}
	return name
}

// shownValue is a literal as a message has it, or the type of another expression.
func shownValue(v value) string {
	if v.constant == nil {
		return "of type " + typeOf(v)
	}
	if written, ok := v.constant.(string); ok {
		return strconv.Quote(written)
	}
	return fmt.Sprint(v.constant)
}

// tableTime sets the time of an option: a timestamp, or a text that is one.
func tableTime(t *translation, o *tableformat.Options, at tree.Node, v value) {
	if _, ok := v.constant.(string); ok {
		v, _ = t.parsed(at, v.constant.(string), timestampType)
	}
	switch instant := v.constant.(type) {
	case arrow.Timestamp:
		o.Timestamp = time.UnixMicro(int64(instant)).UTC()
	case arrow.Date32:
		o.Timestamp = instant.ToTime()
	default:
		t.fail(at, "the time is not a literal timestamp: other expressions are not supported here")
	}
}

// wide returns the integer of 64 bits of a literal.
func (t *translation) wide(at tree.Node, v value, what string) int64 {
	n, ok := v.constant.(int64)
	if !ok {
		t.fail(at, "%s is not a literal integer: other expressions are not supported here", what)
	}
	return n
}

// namedArguments returns the arguments behind the first one, with a name = value as a named one.
func namedArguments(call *tree.Call) (list []tree.Arg) {
	for _, a := range call.Args[min(1, len(call.Args)):] {
		if equal, ok := a.Expr.(*tree.Binary); ok && a.Name.Text == "" && equal.Op == "=" {
			if column, ok := equal.X.(*tree.Column); ok && len(column.Name) == 1 {
				a = tree.Arg{Name: column.Name[0], Expr: equal.Y}
			}
		}
		list = append(list, a)
	}
	return list
}

// scanned returns the query of a table of a format, such as FROM delta_scan('path', version = 3).
func (t *translation) scanned(call *tree.Call, format string) gpuframe.Query {
	function := text(call.Name)
	paths := t.paths(call)
	if len(paths) != 1 {
		t.fail(call, "%s has %d paths, expected 1", function, len(paths))
	}
	options := tableformat.Options{System: t.session.system}
	arguments := namedArguments(call)
	t.setTableOptions(&options, function, format, arguments)
	q, err := tableformat.Scan(t.ctx, t.engine, format, paths[0], options)
	if err != nil {
		if t.ctx.Err() != nil {
			panic(abort{err})
		}
		var refused *tableformat.OptionError
		isRefused := func(a tree.Arg) bool {
			return errors.As(err, &refused) && tableOption(strings.ToLower(a.Name.Text)) == refused.Option
		}
		if i := slices.IndexFunc(arguments, isRefused); i >= 0 {
			message := fmt.Sprintf("%s has no option %q: leave it out", function, arguments[i].Name.Text)
			panic(abort{&parse.Error{Text: t.text, Position: arguments[i].Expr.Pos(), Message: message, Cause: err}})
		}
		t.failAs(call, err)
	}
	return q
}

// setTableOptions sets the options of a table of a format by the arguments of its function.
func (t *translation) setTableOptions(options *tableformat.Options, function, format string, arguments []tree.Arg) {
	known := optionsOf[format]
	if known == nil {
		known = slices.Sorted(maps.Keys(tableOptions))
	}
	empty := &scope{rows: &relation{}, clause: "the arguments of a table function"}
	given := map[string]string{}
	for _, a := range arguments {
		name := strings.ToLower(a.Name.Text)
		switch other, isGiven := given[tableOption(name)]; {
		case name == "":
			t.fail(a.Expr, "%s has one argument without a name, the path: write the others as options, such as %s = value", function, known[0])
		case !slices.Contains(known, name):
			unknown := names.Unknown("option of "+function, a.Name.Text, known)
			panic(abort{&parse.Error{Text: t.text, Position: a.Expr.Pos(), Message: fmt.Sprint(unknown), Cause: tableformat.ErrOption}})
		case isGiven && other == name:
			t.fail(a.Expr, "option %s is given twice", name)
		case isGiven:
			t.fail(a.Expr, "options %s and %s are the same: give one of them", other, name)
		}
		given[tableOption(name)] = name
		tableOptions[name](t, options, a.Expr, t.expr(empty, a.Expr))
	}
}
