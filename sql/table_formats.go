package sql

import (
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/apache/arrow/go/v17/arrow"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
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
			t.fail(at, "allow_moved_paths is true or false")
		}
		o.Moved = moved
	},
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
	empty := &scope{rows: &relation{}, clause: "the arguments of a table function"}
	for _, a := range namedArguments(call) {
		set, ok := tableOptions[strings.ToLower(a.Name.Text)]
		if !ok {
			t.fail(a.Expr, "%s", names.Unknown("option of "+function, a.Name.Text, slices.Sorted(maps.Keys(tableOptions))))
		}
		set(t, &options, a.Expr, t.expr(empty, a.Expr))
	}
	q, err := tableformat.Scan(t.ctx, t.engine, format, paths[0], options)
	if err != nil {
		if t.ctx.Err() != nil {
			panic(abort{err})
		}
		t.failAs(call, err)
	}
	return q
}
