package querydata

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"unicode/utf8"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/cancel"
)

// Version is the version of the format.
const Version = 1

// Options configure [Decode].
type Options struct {
	// Given are the queries that steps with the verb "given" name by their numbers.
	Given []gpuframe.Query
	// Functions are the functions of the program that expressions with the function "call" name by their numbers.
	Functions []gpuframe.UserFunction
	// Files is the file system of steps that read files. A server needs it: nil is the one of the
	// machine, of which a document may read every file that the process may read.
	Files fs.FS
	// Table, if it is set, returns the queries that steps with the verb "table" name.
	Table func(name string) (gpuframe.Query, error)
	// Statement, if it is set, returns the query of steps with the verb "sql": of a statement on tables by their names,
	// with the arguments of its parameters, of which decimals are a json.Number.
	Statement func(ctx context.Context, text string, tables map[string]gpuframe.Query, arguments []any) (gpuframe.Query, error)
	// Cached, if it is set, returns the query of steps with the verb "cache", whose rows the
	// caller keeps by a name. Without it these steps have the rows of their input, and keep none.
	Cached func(name string, q gpuframe.Query) gpuframe.Query
}

// Decode returns the query of a document. No file is read but for the metadata of tables, and folders are; the query is checked
// when it runs.
//
// # Errors
//
// The error is an [*Error], which wraps [ErrDocument] and the error of a table if it is about one, or it is that of a context that is done.
func Decode(ctx context.Context, engine *gpuframe.Engine, document []byte, options Options) (gpuframe.Query, error) {
	data, err := parsed(document)
	if err != nil {
		return gpuframe.Query{}, &Error{Reason: err.Error()}
	}
	return DecodeData(ctx, engine, data, options)
}

// DecodeData is [Decode] for a document that the program has as data, such as one that it made
// itself: objects are maps of any by name, lists are slices of any, and numbers are json.Number.
// The data does not change.
func DecodeData(ctx context.Context, engine *gpuframe.Engine, document any, options Options) (gpuframe.Query, error) {
	d := decoder{reading: reading{ctx: ctx, functions: options.Functions}, engine: engine, options: options}
	q := d.document(document)
	if err := cancel.Error(ctx); err != nil {
		return gpuframe.Query{}, fmt.Errorf("querydata: %w", err)
	}
	if d.err != nil {
		return gpuframe.Query{}, d.err
	}
	return q, nil
}

// decoder makes the query of a document.
type decoder struct {
	reading
	engine  *gpuframe.Engine
	options Options
	queries []gpuframe.Query
}

func (d *decoder) document(data any) (last gpuframe.Query) {
	defer func() {
		if d.err != nil {
			d.err.locate(data)
		}
	}()
	o := value{&d.reading, "", data}.object()
	if version := o.member("version"); version.integer() != Version {
		version.expected(fmt.Sprintf("version %d of the format", Version))
	}
	steps := o.member("steps")
	for _, s := range steps.list() {
		if d.stopped(s.place) {
			return last
		}
		last = d.step(s.object())
		d.queries = append(d.queries, last)
	}
	if len(d.queries) == 0 {
		steps.expected("a list of one or more steps")
	}
	o.end()
	return last
}

// parsed returns the data of a text in JSON, with numbers as they are written.
func parsed(text []byte) (data any, err error) {
	if !utf8.Valid(text) {
		return nil, errors.New("the document is no UTF-8")
	}
	from := json.NewDecoder(bytes.NewReader(text))
	from.UseNumber()
	if err := from.Decode(&data); err != nil {
		return nil, fmt.Errorf("the document is no JSON: %w", err)
	}
	if _, err := from.Token(); err != io.EOF {
		return nil, fmt.Errorf("there is more after the document, at byte %d", from.InputOffset())
	}
	return data, nil
}

// step returns the query of a step.
func (d *decoder) step(o *object) gpuframe.Query {
	name := o.member("verb")
	v, ok := verbs[name.text()]
	if d.err != nil {
		return gpuframe.Query{}
	}
	if !ok {
		d.fail(name.place, "%s", unknownName("verb", name, verbs))
		return gpuframe.Query{}
	}
	inputs := d.inputs(o.member("inputs"))
	if len(inputs) < v.least || len(inputs) > v.most {
		d.fail(o.place, "%q has %d inputs, expected %s", name.data, len(inputs), function{least: v.least, most: v.most}.expected())
	}
	place, placed := d.placeOf(o.member("place"))
	if d.err != nil {
		return gpuframe.Query{}
	}
	query := v.make(d, o, inputs)
	o.end()
	if placed {
		query = query.At(place)
	}
	return query
}

// inputs returns the queries of earlier steps.
func (d *decoder) inputs(v value) (list []gpuframe.Query) {
	for _, each := range v.list() {
		n := each.integer()
		if n < 0 || n >= int64(len(d.queries)) {
			each.expected("the number of an earlier step")
			continue
		}
		list = append(list, d.queries[n])
	}
	return list
}

// placeOf returns the place of a step in the program that made the document.
func (d *decoder) placeOf(v value) (place gpuframe.Place, ok bool) {
	if v.missing() {
		return place, false
	}
	o := v.object()
	place.Verb, place.File = o.member("verb").textOr(""), o.member("file").textOr("")
	if line := o.member("line"); !line.missing() {
		place.Line = line.count()
	}
	o.end()
	return place, true
}
