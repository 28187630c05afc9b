package querydata

import (
	"time"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/tableformat"
)

func (d *decoder) delta(o *object, _ []gpuframe.Query) gpuframe.Query {
	options := tableformat.Options{Version: o.member("version").integerOrNil(), Timestamp: o.member("timestamp").timeOf()}
	return d.tableOf(o, "delta", options)
}

func (d *decoder) iceberg(o *object, _ []gpuframe.Query) gpuframe.Query {
	options := tableformat.Options{
		Snapshot: o.member("snapshot_id").integerOrNil(), Timestamp: o.member("timestamp").timeOf(),
		Ref: o.member("ref").textOr(""), Moved: o.member("moved").flag(),
	}
	return d.tableOf(o, "iceberg", options)
}

// tableOf makes the query of a table of a format, unless there was an error.
func (d *decoder) tableOf(o *object, format string, options tableformat.Options) gpuframe.Query {
	path := o.member("path")
	name := path.text()
	if d.stopped(path.place) {
		return gpuframe.Query{}
	}
	options.System = d.options.Files
	q, err := tableformat.Scan(d.ctx, d.engine, format, name, options)
	if err != nil {
		d.failAs(path.place, err)
	}
	return q
}

// integerOrNil returns a whole number, or nil if it is missing.
func (v value) integerOrNil() *int64 {
	if v.missing() {
		return nil
	}
	return new(v.integer())
}

// timeOf returns a time of RFC 3339, or the zero time if it is missing.
func (v value) timeOf() (at time.Time) {
	if v.missing() {
		return at
	}
	at, err := time.Parse(time.RFC3339Nano, v.text())
	if err != nil {
		v.expected(`a time such as "2026-01-31T12:30:00Z"`)
	}
	return at
}
