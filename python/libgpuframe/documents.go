//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/query/querydata"
)

// parameters are the names of Python's parameters for members of documents that have other
// names, by verb or function and member.
var parameters = map[string]string{
	"join.kind": "how", "as_of.direction": "strategy", "csv.delimiter": "separator", "csv.header": "has_header", "csv.infer_rows": "infer_schema_length",
	"csv.types": "schema_overrides", "csv.nulls": "null_values", "pivot.values": "on_columns", "unpivot.columns": "on", "unpivot.keep": "index",
	"sample.replace": "with_replacement", "sample_rows.replace": "with_replacement", "top.n": "k", "largest.n": "k", "smallest.n": "k", "quantile.q": "quantile",
	"over.at_least": "min_samples", "over.order": "order_by", "pad_start.with": "fill_char", "pad_end.with": "fill_char", "repeat.times": "n",
	"split_part.separator": "by", "split_part.number": "index", "split.separator": "by", "join_strings.separator": "delimiter", "list_slice.from": "offset",
	"list_slice.most": "length", "extract_regex.group": "group_index", "replace_regex.with": "value", "replace.old": "pattern", "replace.with": "value",
	"parse_time.type": "dtype", "parse_duration.type": "dtype", "cast.type": "dtype", "local_time.zone": "time_zone", "instant_in.zone": "time_zone",
	"round_digits.digits": "decimals", "substring.start": "offset",
}

// documentProblem returns an error of a document as a problem of the query, with the place of the
// call in the Python program. Other errors stay as they are.
func documentProblem(err error) error {
	var malformed *querydata.Error
	if !errors.As(err, &malformed) || malformed.Step.Verb == "" {
		return err
	}
	if malformed.Cause != nil {
		problem := gpuframe.Problem{Verb: malformed.Step.Verb, File: malformed.Step.File, Line: malformed.Step.Line, Err: malformed.Cause}
		return &gpuframe.QueryError{Problems: []gpuframe.Problem{problem}}
	}
	parameter, ok := parameters[malformed.Owner+"."+malformed.Member]
	switch {
	case ok:
	case malformed.Member == "calendar":
		parameter = malformed.Within
	default:
		parameter = malformed.Member
	}
	if parameter != "" {
		separator := ": "
		if strings.HasPrefix(malformed.Reason, "is ") || strings.HasPrefix(malformed.Reason, "has ") {
			separator = " "
		}
		parameter += separator
	}
	problem := gpuframe.Problem{Verb: malformed.Step.Verb, File: malformed.Step.File, Line: malformed.Step.Line,
		Err: fmt.Errorf("%s%s", parameter, malformed.Reason)}
	return &gpuframe.QueryError{Problems: []gpuframe.Problem{problem}}
}
