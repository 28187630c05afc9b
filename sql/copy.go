package sql

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"

	"github.com/gpuframe/gpuframe"
	"github.com/gpuframe/gpuframe/internal/base/names"
	"github.com/gpuframe/gpuframe/sql/tree"
)

// copyFormats are the formats of COPY by their names, with the options of Parquet.
var copyFormats = map[string]func(gpuframe.ParquetOptions) gpuframe.Format{
	"parquet": gpuframe.ParquetWith,
	"csv":     func(gpuframe.ParquetOptions) gpuframe.Format { return gpuframe.CSV() },
	"json":    linesFormat, "ndjson": linesFormat, "jsonl": linesFormat,
	"arrow": ipcFormat, "ipc": ipcFormat,
}

func linesFormat(gpuframe.ParquetOptions) gpuframe.Format { return gpuframe.JSONLines() }

func ipcFormat(gpuframe.ParquetOptions) gpuframe.Format { return gpuframe.IPC() }

// copyTarget holds the settings of the options of COPY.
type copyTarget struct {
	format string
	// parquet are the options of Parquet, and ofParquet is the last one of them.
	parquet   gpuframe.ParquetOptions
	ofParquet *tree.Option
	// folder are the options of a folder of files, if inFolder is set.
	folder   gpuframe.FolderOptions
	inFolder bool
	// replaces is OVERWRITE_OR_IGNORE.
	replaces bool
}

// copyOption sets an option of COPY. The values are one or more, or none of options that are true then.
type copyOption func(t *translation, c *copyTarget, o *tree.Option)

// copyOptions are the options of COPY by their names.
var copyOptions = map[string]copyOption{
	"format": func(t *translation, c *copyTarget, o *tree.Option) { c.format = strings.ToLower(t.copyText(o)) },
	"compression": parquetOption(func(t *translation, p *gpuframe.ParquetOptions, o *tree.Option) {
		p.Compression = copyCompression(t.copyText(o))
	}),
	"compression_level": parquetOption(func(t *translation, p *gpuframe.ParquetOptions, o *tree.Option) { p.Level = int(t.copyNumber(o)) }),
	"row_group_size":    parquetOption(func(t *translation, p *gpuframe.ParquetOptions, o *tree.Option) { p.GroupRows = t.copyNumber(o) }),
	"partition_by": folderOption(func(t *translation, c *copyTarget, o *tree.Option) {
		for _, each := range o.Values {
			c.folder.PartitionBy = append(c.folder.PartitionBy, t.optionText(each))
		}
	}),
	"file_size_bytes":     folderOption(func(t *translation, c *copyTarget, o *tree.Option) { c.folder.FileBytes = t.copyBytes(o) }),
	"append":              existingOption(func(c *copyTarget) { c.folder.Existing = gpuframe.AppendFiles }),
	"overwrite":           existingOption(func(c *copyTarget) { c.folder.Existing = gpuframe.OverwriteFolder }),
	"overwrite_or_ignore": existingOption(func(c *copyTarget) { c.replaces = true }),
}

func parquetOption(set func(t *translation, p *gpuframe.ParquetOptions, o *tree.Option)) copyOption {
	return func(t *translation, c *copyTarget, o *tree.Option) {
		set(t, &c.parquet, o)
		c.ofParquet = o
	}
}

func folderOption(set copyOption) copyOption {
	return func(t *translation, c *copyTarget, o *tree.Option) {
		if len(o.Values) == 0 {
			t.fail(o.Name, "the option %s has no value", o.Name.Text)
		}
		c.inFolder = true
		set(t, c, o)
	}
}

// existingOption is an option that is true or false, and true without a value.
func existingOption(set func(c *copyTarget)) copyOption {
	return func(t *translation, c *copyTarget, o *tree.Option) {
		chosen := len(o.Values) == 0
		if !chosen {
			var ok bool
			if chosen, ok = t.expr(&scope{rows: &relation{}, clause: "an option"}, t.copyValue(o)).constant.(bool); !ok {
				t.fail(o.Name, "the option %s is true or false", o.Name.Text)
			}
		}
		if chosen {
			if c.replaces || c.folder.Existing != gpuframe.RefuseExisting {
				t.fail(o.Name, "COPY has one of APPEND, OVERWRITE and OVERWRITE_OR_IGNORE")
			}
			c.inFolder = true
			set(c)
		}
	}
}

// copyValue returns the only value of an option.
func (t *translation) copyValue(o *tree.Option) tree.Expr {
	if len(o.Values) != 1 {
		t.fail(o.Name, "the option %s has %d values, expected one", o.Name.Text, len(o.Values))
	}
	return o.Values[0]
}

func (t *translation) copyText(o *tree.Option) string { return t.optionText(t.copyValue(o)) }

func (t *translation) copyNumber(o *tree.Option) int64 { return t.optionNumber(t.copyValue(o)) }

// copyBytes returns a size in bytes: an integer, or a text such as 100MB.
func (t *translation) copyBytes(o *tree.Option) int64 {
	value := t.expr(&scope{rows: &relation{}, clause: "an option"}, t.copyValue(o)).constant
	if n, ok := value.(int64); ok && n > 0 {
		return n
	}
	written, _ := value.(string)
	bytes, err := humanize.ParseBytes(written)
	if err != nil || bytes == 0 || bytes > math.MaxInt64 {
		t.fail(o.Name, "the option %s is a size such as 100000000 or '100MB'", o.Name.Text)
	}
	return int64(bytes)
}

// copy writes the rows of a query to a file, or to files of a folder.
func (t *translation) copy(c *tree.Copy) (rows int64) {
	empty := &scope{rows: &relation{}, clause: "the path of COPY"}
	path := t.literalText(c.Path, t.expr(empty, c.Path), "the path")
	to := copyTarget{format: strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])}
	for i := range c.Options {
		o := &c.Options[i]
		set, ok := copyOptions[strings.ToLower(o.Name.Text)]
		if !ok {
			t.fail(o.Name, "%s", names.Unknown("option of COPY", o.Name.Text, slices.Sorted(maps.Keys(copyOptions))))
		}
		set(t, &to, o)
	}
	open, ok := copyFormats[to.format]
	if !ok {
		t.fail(c.Path, "%s", names.Unknown("format of files", to.format, []string{"parquet", "csv", "json", "arrow"}))
	}
	if to.ofParquet != nil && to.format != "parquet" {
		t.fail(to.ofParquet.Name, "files of format %s have no option %s", to.format, to.ofParquet.Name.Text)
	}
	rows, err := to.write(t, t.queryOf(c, c.Table, c.Query), path, open(to.parquet))
	if err != nil {
		panic(abort{err})
	}
	return rows
}

// write runs a query and writes its rows.
func (c *copyTarget) write(t *translation, q gpuframe.Query, path string, format gpuframe.Format) (rows int64, err error) {
	if !c.inFolder {
		return q.WriteFile(t.ctx, path, format)
	}
	switch {
	case c.replaces && len(c.folder.PartitionBy) > 0:
		c.folder.Existing = gpuframe.OverwritePartitions
	case c.replaces:
		c.folder.Existing = gpuframe.OverwriteFolder
	}
	manifest, err := q.WriteFiles(t.ctx, path, format, c.folder)
	return manifest.Rows, err
}

// copyCompression returns a compression by its name in SQL.
func copyCompression(name string) string {
	name = strings.ToLower(name)
	if name == "uncompressed" {
		return "none"
	}
	return name
}

// optionNumber returns the value of an option: an integer.
func (t *translation) optionNumber(e tree.Expr) int64 {
	n, ok := t.expr(&scope{rows: &relation{}, clause: "an option"}, e).constant.(int64)
	if !ok {
		t.fail(e, "the value of the option is not a literal integer")
	}
	return n
}

// optionText returns the value of an option: a text or a word.
func (t *translation) optionText(e tree.Expr) string {
	if word, ok := e.(*tree.Column); ok {
		return text(word.Name)
	}
	return t.literalText(e, t.expr(&scope{rows: &relation{}, clause: "an option"}, e), "the value of the option")
}
