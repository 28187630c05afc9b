//go:build cgo && !(386 || arm || mips || mipsle)

package libgpuframe

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/learn"
)

// operation is something that is done with a query.
type operation struct {
	// Do is the name of the operation.
	Do string `json:"do"`
	// Tag, BatchRows and Profile are the options of a run.
	Tag       string `json:"tag"`
	BatchRows int64  `json:"batch_rows"`
	Profile   bool   `json:"profile"`
	// Path and Format are those of a file to write.
	Path   string `json:"path"`
	Format string `json:"format"`
	// Parquet are the options of a Parquet file.
	Parquet parquetOptions `json:"parquet"`
	// Fit is the request of a fit.
	Fit learn.Request `json:"fit"`
	// Chart are the options of a chart.
	Chart chartRequest `json:"chart"`
	// Folder are the options of a folder of files, or nil: the path is that of a file.
	Folder *folderOptions `json:"folder"`
}

// folderOptions is [gpuframe.FolderOptions] as a member of a document.
type folderOptions struct {
	PartitionBy []string             `json:"partition_by"`
	Keys        []gpuframe.FolderKey `json:"-"`
	FileRows    int64                `json:"file_rows"`
	FileBytes   int64                `json:"file_bytes"`
	Existing    gpuframe.Existing    `json:"existing"`
	MostFiles   int                  `json:"most_files"`
	MostOpen    int                  `json:"most_open"`
	MostBytes   int64                `json:"most_bytes"`
	Manifest    string               `json:"manifest"`
}

// parquetOptions is [gpuframe.ParquetOptions] as a member of a document.
type parquetOptions struct {
	Compression    string   `json:"compression"`
	Level          int      `json:"level"`
	GroupRows      int64    `json:"group_rows"`
	PageRows       int64    `json:"page_rows"`
	NoDictionaries bool     `json:"no_dictionaries"`
	OldEncodings   bool     `json:"old_encodings"`
	Bloom          []string `json:"bloom"`

	FieldIDs []gpuframe.FieldID `json:"-"`
}

var operations = map[string]func(ctx context.Context, o operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) error{
	"collect": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) error {
		f, err := q.Collect(ctx, options...)
		return r.sendFrame(ctx, f, err)
	},
	"describe": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) error {
		f, err := q.Describe(ctx, options...)
		return r.sendFrame(ctx, f, err)
	},
	"fit": func(ctx context.Context, o operation, q gpuframe.Query, r *run, _ []gpuframe.RunOption) error {
		fitted, err := learn.Fit(ctx, q, o.Fit)
		if err != nil {
			return err
		}
		text, err := json.Marshal(fitted)
		r.answer.Text = string(text)
		return err
	},
	"batches": batches,
	"chart":   chart,
	"write":   write,
	"explain": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, _ []gpuframe.RunOption) (err error) {
		r.answer.Text, err = q.Explain(ctx)
		return err
	},
	"diagram": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, _ []gpuframe.RunOption) (err error) {
		r.answer.Text, err = q.Diagram(ctx)
		return err
	},
	"svg": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, _ []gpuframe.RunOption) (err error) {
		r.answer.Text, err = q.DiagramSVG(ctx)
		return err
	},
	"schema": func(ctx context.Context, _ operation, q gpuframe.Query, r *run, _ []gpuframe.RunOption) error {
		schema, err := q.Schema(ctx)
		if err != nil {
			return err
		}
		for _, field := range schema.Fields() {
			r.answer.Fields = append(r.answer.Fields, fieldOf(field))
		}
		return nil
	},
}

// formats are the formats of files to write.
var formats = map[string]func(operation) gpuframe.Format{
	"parquet":    func(o operation) gpuframe.Format { return gpuframe.ParquetWith(gpuframe.ParquetOptions(o.Parquet)) },
	"csv":        func(operation) gpuframe.Format { return gpuframe.CSV() },
	"json_lines": func(operation) gpuframe.Format { return gpuframe.JSONLines() },
	"ipc":        func(operation) gpuframe.Format { return gpuframe.IPC() },
}

// on does the operation with a query.
func (o operation) on(ctx context.Context, q gpuframe.Query, r *run) error {
	do, ok := operations[o.Do]
	if !ok {
		return fmt.Errorf("no operation is called %q: %w", o.Do, errArgument)
	}
	var options []gpuframe.RunOption
	if o.Tag != "" {
		options = append(options, gpuframe.Tag(o.Tag))
	}
	if o.BatchRows != 0 {
		options = append(options, gpuframe.BatchRows(o.BatchRows))
	}
	options = append(options, gpuframe.Progress(func(rows, total int64) {
		r.rows.Store(rows)
		r.ofRows.Store(total)
	}))
	if !o.Profile {
		return do(ctx, o, q, r, options)
	}
	var profile gpuframe.Profile
	if err := do(ctx, o, q, r, append(options, gpuframe.Profiled(&profile))); err != nil {
		return err
	}
	var trace strings.Builder
	err := profile.WriteTrace(&trace)
	r.answer.Profile, r.answer.Trace = profile.String(), trace.String()
	return err
}

// sendFrame sends the result of a query that has one.
func (r *run) sendFrame(ctx context.Context, f *gpuframe.Frame, err error) error {
	if err != nil {
		return err
	}
	if !r.yield(ctx, f) {
		return context.Cause(ctx)
	}
	return nil
}

func batches(ctx context.Context, _ operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) error {
	for f, err := range q.Batches(ctx, options...) {
		if err := r.sendFrame(ctx, f, err); err != nil {
			return err
		}
	}
	return nil
}

func write(ctx context.Context, o operation, q gpuframe.Query, r *run, options []gpuframe.RunOption) (err error) {
	format, ok := formats[o.Format]
	if !ok {
		return fmt.Errorf("no format is called %q: %w", o.Format, errArgument)
	}
	if o.Folder == nil {
		r.answer.Rows, err = q.WriteFile(ctx, o.Path, format(o), options...)
		return err
	}
	manifest, err := q.WriteFiles(ctx, o.Path, format(o), gpuframe.FolderOptions(*o.Folder), options...)
	r.answer.Rows = manifest.Rows
	return err
}
